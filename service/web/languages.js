// Names and colours of languages and labels; the colour of a code is the same everywhere.

import { element } from "./dom.js";

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
const USUAL = "en de fr es it ru zh ja ar pt nl pl tr ko hi vi uk cs sv el".split(" ");
const others = [];

export function languageName(code) {
  if (!code || code === "und") return "unknown";
  try {
    return names.of(code);
  } catch {
    return code;
  }
}

// Hues a golden angle apart: neighbours in the list are far apart in colour.
export function hue(name) {
  let place = USUAL.indexOf(name);
  if (place < 0) {
    if (!others.includes(name)) others.push(name);
    place = USUAL.length + others.indexOf(name);
  }
  return Math.round((190 + place * 137.508) % 360);
}

export function tint(node, name) {
  node.style.setProperty("--hue", hue(name));
  return node;
}

export function chip(code) {
  const made = element("span", { className: "chip", title: languageName(code) }, code || "–");
  made.setAttribute("aria-label", languageName(code));
  made.setAttribute("role", "img");
  return tint(made, code || "und");
}
