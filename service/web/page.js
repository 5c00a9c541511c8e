// The page at /: starts its parts.

import { startClassify } from "./classify.js";
import { startCompare } from "./compare.js";
import { startCurl } from "./curl.js";
import { byId, counted } from "./dom.js";
import { startKey } from "./key.js";
import { startLive } from "./live.js";
import { startMap } from "./map.js";
import { startSearch } from "./search.js";
import { ask } from "./service.js";
import { startTabs } from "./tabs.js";

async function about() {
  const { answer } = await ask({ path: "/models" });
  const facts = answer.models.map(({ name, languages, dimension }) => [
    name,
    languages.join() === "und" ? "languages unknown" : counted(languages.length, "language"),
    counted(dimension, "dimension"),
  ]);
  byId("about").textContent = facts.map((of) => of.join(" · ")).join("\n");
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
