// Search a corpus: hits of all languages, filtered by chips.

import { byId, counted, element, say } from "./dom.js";
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
let openedWith = "";
const turn = turns();

const chosen = () => [...document.querySelectorAll("#languages input:checked")].map((box) => box.value);

// Question, corpus and languages go into the address; the part that is open stays there.
function remember(text) {
  if (!corporaKnown) return;
  const query = new URLSearchParams();
  const corpus = byId("corpus").value;
  if (text) query.set("q", text);
  if (corpus && (text || corpus !== openedWith)) query.set("corpus", corpus);
  if (chosen().length) query.set("languages", chosen().join(","));
  const asked = String(query) && `?${query}`;
  history.replaceState(null, "", location.pathname + asked + location.hash);
}

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
    remember(text);
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
        ? `${answer.length} of ${counted(searched.documents, "document")}, ` +
          `in ${counted(languages, "language")}, ${milliseconds(took)}`
        : "Nothing found.",
    );
    showTiming(byId("search-timing"), timing);
    remember(text);
  } catch (problem) {
    if (!isLast()) return;
    byId("hits").replaceChildren();
    byId("search-timing").hidden = true;
    say("search-status", problem.message, true);
  }
}

function showLanguages(wanted = []) {
  const corpus = corpora.find((one) => one.name === byId("corpus").value);
  const counts = Object.entries(corpus ? corpus.languages : {}).filter(([code]) => code !== "und");
  counts.sort((a, b) => languageName(a[0]).localeCompare(languageName(b[0])));
  const boxes = counts.map(([code, count]) => {
    const checked = counts.length > 1 && wanted.includes(code);
    const box = element("input", { type: "checkbox", value: code, checked });
    const label = element("label", {}, box, languageName(code));
    label.title = counted(count, "document");
    return tint(label, code);
  });
  const legend = byId("languages").querySelector("legend");
  byId("languages").replaceChildren(legend, ...boxes);
  byId("languages").hidden = boxes.length < 2;
}

// Returns whether there is the corpus that the address names, if it names one.
async function readCorpora(address) {
  corpora = (await ask({ path: "/corpora" })).answer.corpora;
  const options = corpora.map((corpus) =>
    element("option", { value: corpus.name }, `${corpus.name} (${corpus.documents.toLocaleString("en")})`),
  );
  byId("corpus").replaceChildren(...options);
  const isThere = (name) => corpora.some((corpus) => corpus.name === name);
  if (isThere("demo")) byId("corpus").value = "demo";
  openedWith = byId("corpus").value;
  corporaKnown = true;
  const wanted = address.get("corpus") || openedWith;
  const found = isThere(wanted);
  if (found) byId("corpus").value = wanted;
  showLanguages(found ? (address.get("languages") || "").split(",") : []);
  return found || !corpora.length;
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
  const address = new URLSearchParams(location.search);
  byId("query").value = address.get("q") || "";
  try {
    // In another corpus the question would find something else than was sent.
    if (await readCorpora(address)) await search();
    else say("search-status", `There is no corpus ${address.get("corpus")} here.`, true);
  } catch (problem) {
    say("search-status", problem.message, true);
  }
}
