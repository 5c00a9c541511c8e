// A column of texts as a map and as a matrix.

import { byId, counted, element, lines, say } from "./dom.js";
import { languageName, tint } from "./languages.js";
import { drawMatrix } from "./matrix.js";
import { drawPlane, highlight } from "./scatter.js";
import { ask, turns } from "./service.js";
import { onTab } from "./tabs.js";
import { milliseconds } from "./timing.js";

const SAMPLE_STATEMENTS = 6;
const SAMPLE_TEXTS = 60;
const MOST_PAGES = 3;
const turn = turns();
let drawn = null;
let unseen = false;

// "text<TAB>label": as a spreadsheet pastes two columns.
function parse(column) {
  return lines(column).map((line) => {
    const [text, label = ""] = line.split("\t");
    return { text: text.trim(), label: label.trim() };
  });
}

function legend() {
  const by = byId("colour-by").value;
  const groups = drawn.rows.map((row) => row[by] || "–");
  const counts = new Map();
  for (const group of groups) counts.set(group, (counts.get(group) || 0) + 1);
  const named = (group) => (by === "language" ? languageName(group === "–" ? "" : group) : group);
  byId("legend").replaceChildren(
    ...[...counts].sort((a, b) => b[1] - a[1]).map(([group, count]) => {
      const button = element("button", { type: "button", className: "chip" }, `${named(group)} ${count}`);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        for (const other of byId("legend").querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
        button.setAttribute("aria-pressed", String(on));
        highlight(on ? group : null);
      });
      return element("li", {}, tint(button, group));
    }),
  );
  // A part that is not open has no size to draw in.
  unseen = byId("map").hidden;
  if (!unseen) drawPlane(drawn, groups);
}

async function draw(event) {
  event?.preventDefault();
  const isLast = turn();
  const rows = parse(byId("column").value);
  if (!rows.length) {
    byId("map-result").hidden = true;
    say("map-status", "Write some texts: one a line.", true);
    return;
  }
  const body = { inputs: rows.map((row) => row.text), method: byId("method").value };
  say("map-status", "Drawing …");
  const begun = performance.now();
  try {
    const { answer } = await ask({ method: "POST", path: "/projection", body, tab: "map" });
    if (!isLast()) return;
    rows.forEach((row, place) => (row.language = answer.languages[place]));
    drawn = { rows, ...answer };
    const hasLabels = rows.some((row) => row.label);
    byId("colour-by").value = hasLabels ? "label" : "language";
    byId("colour-by").disabled = !hasLabels;
    byId("map-result").hidden = false;
    legend();
    drawMatrix(drawn);
    const how = answer.method === "pca"
      ? `principal components, ${Math.round(100 * answer.explained)} % of the variance`
      : "t-SNE";
    say("map-status", `${counted(rows.length, "text")} by ${how}, ${milliseconds(performance.now() - begun)}`);
  } catch (problem) {
    if (!isLast()) return;
    byId("map-result").hidden = true;
    say("map-status", problem.message, true);
  }
}

async function firstDocuments(corpus) {
  const documents = [];
  const query = { limit: "1000" };
  for (let page = 0; page < MOST_PAGES; page++) {
    const path = `/corpora/${encodeURIComponent(corpus)}/documents`;
    const { answer } = await ask({ path, query });
    documents.push(...answer.documents);
    if (!answer.next_cursor) break;
    query.cursor = answer.next_cursor;
  }
  return documents;
}

// A text on one line without tabs, as `parse` wants it.
const onOneLine = (text) => String(text).replace(/\s+/g, " ");

// Some statements of the searched corpus with their translations, or texts spread over it.
async function sample() {
  const corpus = byId("corpus").value;
  try {
    const documents = await firstDocuments(corpus);
    const statements = [...new Set(documents.map((one) => one.metadata.statement).filter(Boolean))];
    const step = Math.max(1, Math.floor(statements.length / SAMPLE_STATEMENTS));
    const wanted = new Set(statements.filter((_, place) => place % step === 0).slice(0, SAMPLE_STATEMENTS));
    const chosen = wanted.size
      ? documents.filter((one) => wanted.has(one.metadata.statement))
      : documents.filter((_, place) => place % Math.ceil(documents.length / SAMPLE_TEXTS) === 0);
    byId("column").value = chosen
      .map((one) => [one.text, one.metadata.topic].filter(Boolean).map(onOneLine).join("\t"))
      .join("\n");
    await draw();
  } catch (problem) {
    say("map-status", problem.message, true);
  }
}

export function startMap() {
  byId("column").value = [
    "Ice floats on water.", "Eis schwimmt auf dem Wasser.", "La glace flotte sur l'eau.", "El hielo flota en el agua.",
    "The match ended in a draw.", "Das Spiel endete unentschieden.", "Le match s'est terminé par un nul.", "El partido terminó en empate.",
    "My tooth hurts.", "Mein Zahn tut weh.", "J'ai mal à une dent.", "Me duele un diente.",
  ].join("\n");
  byId("map-form").addEventListener("submit", draw);
  byId("map-example").addEventListener("click", sample);
  byId("colour-by").addEventListener("change", legend);
  onTab((name) => name === "map" && unseen && legend());
}
