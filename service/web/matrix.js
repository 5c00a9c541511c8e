// The cosines of every text with every other: figures where they can be read, colours where not.

import { byId, element } from "./dom.js";

const READABLE = 16;
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

const short = (text) => (text.length > 34 ? `${text.slice(0, 33)}…` : text);

function table({ rows, cosines }) {
  const made = element("table");
  const head = element("tr", {}, element("td"));
  rows.forEach((_, place) => head.append(element("th", { scope: "col" }, String(place + 1))));
  made.append(element("thead", {}, head));
  const body = element("tbody");
  cosines.forEach((line, place) => {
    const title = element("th", { scope: "row", title: rows[place].text }, `${place + 1}. ${short(rows[place].text)}`);
    const cells = line.map((cosine) => {
      const cell = element("td", {}, cosine.toFixed(2));
      cell.style.setProperty("--share", Math.max(0, cosine));
      return cell;
    });
    body.append(element("tr", {}, title, ...cells));
  });
  made.append(body);
  return made;
}

function picture({ rows, cosines }) {
  const canvas = element("canvas", { width: rows.length, height: rows.length });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${rows.length} by ${rows.length} cosines as colours`);
  const paint = canvas.getContext("2d");
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  cosines.forEach((line, y) =>
    line.forEach((cosine, x) => {
      paint.globalAlpha = Math.max(0, cosine) ** 1.5;
      paint.fillStyle = ink;
      paint.fillRect(x, y, 1, 1);
    }),
  );
  let [x, y] = [0, 0];
  const within = (place) => Math.min(rows.length - 1, Math.max(0, place));
  const read = (column, row) => {
    [x, y] = [within(column), within(row)];
    byId("matrix-caption").textContent = `${cosines[y][x].toFixed(3)}: “${short(rows[y].text)}” and “${short(rows[x].text)}”`;
  };
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (at, size) => Math.floor((at / size) * rows.length);
    read(place(event.clientX - box.left, box.width), place(event.clientY - box.top, box.height));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  byId("matrix").onkeydown = (event) => {
    const [right, down] = STEPS[event.key] || [0, 0];
    if (!right && !down) return;
    event.preventDefault();
    read(x + right, y + down);
  };
  return canvas;
}

export function drawMatrix(drawn) {
  const box = byId("matrix");
  box.onkeydown = null;
  if (!drawn.cosines) {
    byId("matrix-caption").textContent = "A matrix is drawn of up to 120 texts.";
    box.replaceChildren();
    return;
  }
  const readable = drawn.rows.length <= READABLE;
  byId("matrix-caption").textContent = readable ? "" : "The stronger the colour, the nearer; point at a square, or use the arrow keys, to read it.";
  box.replaceChildren(readable ? table(drawn) : picture(drawn));
}
