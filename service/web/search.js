// Search a corpus: hits of all languages, filtered by chips.

import { byId, element, say } from "./dom.js";
import { chip, languageName, tint } from "./languages.js";
import { ask, turns } from "./service.js";
import { milliseconds, showTiming } from "./timing.js";

const EXAMPLES = [
  ["de", "Warum verstimmt sich meine Gitarre?"],
  ["fr", "Pourquoi la glace flotte-t-elle sur l'eau ?"],
  ["es", "¿Cuántos corazones tiene un pulpo?"],
  ["ja", "高い山ではお湯は何度で沸きますか？"],
  ["en", "How do I keep cut apples from turning brown?"],
];
const TYPING_MS = 220;

let corpora = [];
let corporaKnown = false;
const turn = turns();

// The question goes into the address; the part that is open stays there.
const remember = (question) => history.replaceState(null, "", question + location.hash);

const chosen = () => [...document.querySelectorAll("#languages input:checked")].map((box) => box.value);

function hit(found) {
  const text = element("p", { className: "text", dir: "auto", lang: found.language || "" }, found.text);
  const notes = Object.entries(found.metadata).map(([name, value]) => `${name}: ${value}`).join(" · ");
  const score = element("span", { className: "score", title: "cosine" }, found.score.toFixed(3));
  const bar = element("span", { className: "strength" });
  bar.style.setProperty("--share", Math.max(0, found.score));
  const body = element("div", { className: "body" }, text);
  if (notes) body.append(element("p", { className: "notes" }, notes));
  return element("li", {}, chip(found.language), body, element("div", { className: "scored" }, score, bar));
}

async function search() {
  const text = byId("query").value.trim();
  const isLast = turn();
  byId("search-examples").hidden = Boolean(text) || byId("corpus").value !== "demo";
  const nowhere = corporaKnown && !corpora.length;
  if (!text || nowhere) {
    remember(location.pathname);
    say("search-status", nowhere ? "There is no corpus yet: PUT /corpora/NAME makes one." : "");
    byId("search-timing").hidden = true;
    byId("hits").replaceChildren();
    return;
  }
  const query = { q: text, corpus: byId("corpus").value, k: byId("count").value };
  if (chosen().length) query.languages = chosen().join(",");
  const begun = performance.now();
  try {
    const { answer, timing } = await ask({ path: "/similar", query, tab: "search" });
    if (!isLast()) return;
    const took = performance.now() - begun;
    byId("hits").replaceChildren(...answer.map(hit));
    const languages = new Set(answer.map((found) => found.language)).size;
    const searched = corpora.find((corpus) => corpus.name === query.corpus);
    say(
      "search-status",
      answer.length
        ? `${answer.length} of ${searched.documents.toLocaleString("en")} documents, ` +
          `in ${languages} ${languages === 1 ? "language" : "languages"}, ${milliseconds(took)}`
        : "Nothing found.",
    );
    showTiming(byId("search-timing"), timing);
    remember(`?${new URLSearchParams({ q: text })}`);
  } catch (problem) {
    if (!isLast()) return;
    byId("hits").replaceChildren();
    byId("search-timing").hidden = true;
    say("search-status", problem.message, true);
  }
}

function showLanguages() {
  const corpus = corpora.find((one) => one.name === byId("corpus").value);
  const counts = Object.entries(corpus ? corpus.languages : {}).filter(([code]) => code !== "und");
  counts.sort((a, b) => languageName(a[0]).localeCompare(languageName(b[0])));
  const boxes = counts.map(([code, count]) => {
    const box = element("input", { type: "checkbox", value: code });
    const label = element("label", {}, box, languageName(code));
    label.title = `${count.toLocaleString("en")} documents`;
    return tint(label, code);
  });
  const legend = byId("languages").querySelector("legend");
  byId("languages").replaceChildren(legend, ...boxes);
  byId("languages").hidden = boxes.length < 2;
}

async function readCorpora() {
  corpora = (await ask({ path: "/corpora" })).answer.corpora;
  const options = corpora.map((corpus) =>
    element("option", { value: corpus.name }, `${corpus.name} (${corpus.documents.toLocaleString("en")})`),
  );
  byId("corpus").replaceChildren(...options);
  if (corpora.some((corpus) => corpus.name === "demo")) byId("corpus").value = "demo";
  corporaKnown = true;
  showLanguages();
}

export async function startSearch() {
  byId("search-examples").append(
    ...EXAMPLES.map(([code, text]) => {
      const button = element("button", { type: "button", lang: code }, text);
      button.addEventListener("click", () => {
        byId("query").value = text;
        search();
      });
      return button;
    }),
  );
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("query").value ||= byId("query").placeholder;
    search();
  });
  let typing;
  const soon = () => {
    clearTimeout(typing);
    typing = setTimeout(search, TYPING_MS);
  };
  byId("query").addEventListener("input", (event) => {
    if (event.isComposing) clearTimeout(typing);
    else soon();
  });
  // Chromium's last input event still belongs to the composition.
  byId("query").addEventListener("compositionend", soon);
  byId("languages").addEventListener("change", search);
  byId("count").addEventListener("change", search);
  byId("corpus").addEventListener("change", () => {
    showLanguages();
    search();
  });
  byId("query").value = new URLSearchParams(location.search).get("q") || "";
  try {
    await readCorpora();
    await search();
  } catch (problem) {
    say("search-status", problem.message, true);
  }
}
