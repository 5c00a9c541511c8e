// How near two texts are.

import { byId, say } from "./dom.js";
import { ask, turns } from "./service.js";
import { milliseconds } from "./timing.js";

const EXAMPLES = [
  ["The dentist pulled out a tooth.", "El dentista me sacó una muela."],
  ["Der Zug hat zwanzig Minuten Verspätung.", "列車は二十分遅れています。"],
  ["The dentist pulled out a tooth.", "Der Zug hat zwanzig Minuten Verspätung."],
  ["She did not buy the house.", "Elle a acheté la maison."],
];
let example = 0;
const turn = turns();

async function compare(event) {
  event?.preventDefault();
  const isLast = turn();
  const [left, right] = [byId("left").value, byId("right").value];
  if (!left.trim() || !right.trim()) {
    byId("gauge").hidden = true;
    say("compare-status", "Write a text into both boxes.", true);
    return;
  }
  const body = { inputs: { source_sentence: left, sentences: [right] } };
  const begun = performance.now();
  try {
    const { answer } = await ask({ method: "POST", path: "/similarity", body, tab: "compare" });
    if (!isLast()) return;
    const [cosine] = answer;
    byId("gauge").hidden = false;
    byId("cosine").textContent = cosine.toFixed(3);
    byId("meter").value = Math.max(0, cosine);
    say("compare-status", milliseconds(performance.now() - begun));
  } catch (problem) {
    if (!isLast()) return;
    byId("gauge").hidden = true;
    say("compare-status", problem.message, true);
  }
}

export function startCompare() {
  byId("compare-form").addEventListener("submit", compare);
  byId("swap").addEventListener("click", () => {
    example = (example + 1) % EXAMPLES.length;
    [byId("left").value, byId("right").value] = EXAMPLES[example];
    compare();
  });
}
