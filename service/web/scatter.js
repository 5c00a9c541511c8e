// The map: one dot a text; the pointer or the arrow keys say which is which.

import { byId, shape } from "./dom.js";
import { languageName, tint } from "./languages.js";

const MARGIN = 26;
const LETTER = 6.2;
const LINE = 12;
let dots = [];
let current = -1;
let shown = null;

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function nearest(place) {
  if (!shown.cosines) return "";
  const row = shown.cosines[place].map((cosine, other) => (other === place ? -2 : cosine));
  const best = row.indexOf(Math.max(...row));
  return row.length > 1 ? ` Nearest: “${short(shown.rows[best].text, 60)}” (${row[best].toFixed(2)})` : "";
}

function select(place) {
  if (current >= 0 && dots[current]) dots[current].classList.remove("current");
  current = place;
  if (place < 0) return;
  dots[place].classList.add("current");
  dots[place].parentNode.append(dots[place]);
  const row = shown.rows[place];
  const group = row.label ? `${row.label}, ${languageName(row.language)}` : languageName(row.language);
  byId("plane-caption").textContent = `${place + 1}. “${short(row.text, 120)}” (${group}).${nearest(place)}`;
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Which dots get their language written beside them: those where it covers no dot and no other.
function labelled(spots, texts, radius) {
  const taken = spots.map(([x, y]) => [x - radius, y - radius, x + radius, y + radius]);
  return spots.map(([x, y], place) => {
    const begin = x + radius + 2;
    const box = [begin, y - LINE / 2, begin + LETTER * texts[place].length, y + LINE / 2];
    const free = !taken.some((other) => overlap(box, other));
    if (free) taken.push(box);
    return free;
  });
}

export function highlight(group) {
  for (const dot of dots) dot.classList.toggle("faded", group !== null && dot.dataset.group !== group);
}

export function drawPlane(drawn, groups) {
  shown = drawn;
  current = -1;
  const xs = drawn.points.map((point) => point[0]);
  const ys = drawn.points.map((point) => point[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const plane = byId("plane");
  const [width, height] = [plane.clientWidth, plane.clientHeight];
  plane.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const scale = Math.min((width - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (high - low || 1));
  const radius = drawn.points.length > 150 ? 4 : 6;
  const spots = drawn.points.map(([x, y]) => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 - (y - (low + high) / 2) * scale,
  ]);
  const names = drawn.rows.map((row) => row.language || "");
  const written = labelled(spots, names, radius);
  dots = spots.map(([x, y], place) => {
    const dot = shape("g", { class: "dot", transform: `translate(${x} ${y})` });
    dot.append(shape("circle", { r: radius }));
    if (written[place]) dot.append(shape("text", { x: radius + 3, y: 4 }, names[place]));
    dot.dataset.group = groups[place];
    dot.addEventListener("pointerenter", () => select(place));
    return tint(dot, groups[place]);
  });
  plane.replaceChildren(...dots);
  plane.setAttribute("aria-label", `Map of ${dots.length} texts. Arrow keys go from text to text.`);
  byId("plane-caption").textContent = "Point at a dot, or focus the map and use the arrow keys, to read it.";
  plane.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    select((current + step + dots.length) % dots.length);
  };
}
