// Labels of texts, with how sure the classifier is.

import { byId, counted, element, lines, say } from "./dom.js";
import { ask, turns } from "./service.js";
import { milliseconds } from "./timing.js";

const SHOWN_LABELS = 3;
const turn = turns();

function labelled(text, scored) {
  const bars = scored.slice(0, SHOWN_LABELS).map(({ label, score }) => {
    const bar = element("span", { className: "strength" });
    bar.style.setProperty("--share", score);
    const percent = element("span", { className: "score" }, `${Math.round(100 * score)} %`);
    return element("div", { className: "label-row" }, element("span", { className: "label" }, label), bar, percent);
  });
  return element("li", {}, element("p", { className: "text", dir: "auto" }, text), element("div", {}, ...bars));
}

async function classify(event) {
  event.preventDefault();
  const isLast = turn();
  const inputs = lines(byId("texts").value);
  if (!inputs.length) {
    byId("labelled").replaceChildren();
    say("classify-status", "Write a text, or several: one a line.", true);
    return;
  }
  const body = { classifier: byId("classifier").value || undefined, inputs, top_k: SHOWN_LABELS };
  const begun = performance.now();
  try {
    const { answer } = await ask({ method: "POST", path: "/classify", body, tab: "classify" });
    if (!isLast()) return;
    byId("labelled").replaceChildren(...answer.map((scored, place) => labelled(inputs[place], scored)));
    say("classify-status", `${counted(inputs.length, "text")}, ${milliseconds(performance.now() - begun)}`);
  } catch (problem) {
    if (!isLast()) return;
    byId("labelled").replaceChildren();
    say("classify-status", problem.message, true);
  }
}

export async function startClassify() {
  byId("classify-form").addEventListener("submit", classify);
  try {
    const { answer } = await ask({ path: "/classifiers" });
    const ofTexts = answer.classifiers.filter((one) => one.kind !== "pair");
    byId("classifier").replaceChildren(
      ...ofTexts.map((one) => element("option", { value: one.name }, one.name)),
    );
    // The example on the page is of topics.
    if (ofTexts.some((one) => one.name === "topic")) byId("classifier").value = "topic";
    if (!ofTexts.length) say("classify-status", "No classifier is loaded.");
  } catch (problem) {
    say("classify-status", problem.message, true);
  }
}
