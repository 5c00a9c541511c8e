// Elements from names and properties. Text is always text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function say(id, text, isProblem = false) {
  const line = byId(id);
  line.textContent = text;
  line.classList.toggle("problem", isProblem);
}

// 1 text, 2 texts.
export const counted = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;

export const lines = (text) => text.split("\n").map((l) => l.replace(/\r$/, "")).filter((l) => l.trim());
