// The request that was just made, as a line for a shell.

import { byId } from "./dom.js";
import { asked, key } from "./service.js";
import { onTab } from "./tabs.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function curlLine({ method, path, query, body }, origin) {
  const parts = [`curl -s${query ? "G" : ""} ${origin}${path}`];
  if (method !== "GET" && !(method === "POST" && body)) parts[0] += ` -X ${method}`;
  if (key.get()) parts.push(`-H "authorization: Bearer $INTERLINGUA_API_KEY"`);
  for (const [name, value] of Object.entries(query || {})) {
    const plain = /^[\w.,-]+$/.test(value);
    parts.push(plain ? `-d ${name}=${value}` : `--data-urlencode ${quoted(`${name}=${value}`)}`);
  }
  if (body) parts.push(`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(" \\\n  ");
}

export function startCurl() {
  const last = {};
  let shown = "search";
  const show = () => {
    byId("curl").hidden = !last[shown];
    if (last[shown]) byId("curl-line").textContent = last[shown];
  };
  asked.addEventListener("asked", (event) => {
    last[event.detail.tab] = curlLine(event.detail, location.origin);
    show();
  });
  onTab((name) => {
    shown = name;
    show();
  });
  byId("copy").addEventListener("click", async () => {
    const button = byId("copy");
    try {
      await navigator.clipboard.writeText(last[shown]);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId("curl-line"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
