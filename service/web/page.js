// The page at /: starts its parts.

import { startClassify } from "./classify.js";
import { startCompare } from "./compare.js";
import { startCurl } from "./curl.js";
import { byId } from "./dom.js";
import { startKey } from "./key.js";
import { startLive } from "./live.js";
import { startMap } from "./map.js";
import { startSearch } from "./search.js";
import { ask } from "./service.js";
import { startTabs } from "./tabs.js";

async function about() {
  const { answer } = await ask({ path: "/models" });
  const [model] = answer.models;
  const facts = [model.name, `${model.languages.length} languages`, `${model.dimension} dimensions`];
  byId("about").textContent = facts.join(" · ");
}

startKey();
startCurl();
startCompare();
startMap();
startLive();
startTabs();
startSearch();
startClassify();
about().catch(() => {});
