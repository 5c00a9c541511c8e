// Where the milliseconds went, as a bar and in words.

import { element } from "./dom.js";

const PARTS = [
  ["tokenization", "tokens"],
  ["queue", "queue"],
  ["inference", "encoder"],
  ["search", "search"],
];

export const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export function showTiming(box, timing) {
  const total = timing.total || 0;
  const known = PARTS.filter(([name]) => name in timing);
  const rest = Math.max(0, total - known.reduce((sum, [name]) => sum + timing[name], 0));
  const all = [...known.map(([name, said]) => [said, timing[name]]), ["rest", rest]];
  const bar = element("div", { className: "bar" });
  bar.setAttribute("aria-hidden", "true");
  const words = element("p");
  for (const [said, took] of all) {
    const piece = element("i", { className: `part ${said}` });
    piece.style.setProperty("flex-grow", took);
    bar.append(piece);
    words.append(element("span", { className: `part-name ${said}` }, `${said} ${took.toFixed(2)}`), " ");
  }
  words.append("ms in the service");
  box.replaceChildren(bar, words);
  box.hidden = false;
}
