// Where the service wants an API key, ask for it once.

import { byId } from "./dom.js";
import { asked, key } from "./service.js";

export function startKey() {
  asked.addEventListener("key-wanted", () => {
    byId("key-form").hidden = false;
  });
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    key.set(byId("key").value.trim());
    location.reload();
  });
}
