"use strict";

const form = document.getElementById("search");
const query = document.getElementById("query");
const status = document.getElementById("status");
const hits = document.getElementById("hits");
let latest = 0;

function say(text, isProblem = false) {
  status.textContent = text;
  status.classList.toggle("problem", isProblem);
}

function row(hit) {
  const item = document.createElement("li");
  const cells = [
    ["language", hit.language || "–"],
    ["text", hit.text],
    ["score", hit.score.toFixed(3)],
  ];
  for (const [name, text] of cells) {
    const cell = document.createElement("span");
    cell.className = name;
    cell.textContent = text;
    if (name === "text") {
      cell.dir = "auto";
      cell.lang = hit.language || "";
    }
    item.append(cell);
  }
  return item;
}

async function search(text) {
  const mine = ++latest;
  try {
    const response = await fetch("/similar?" + new URLSearchParams({ q: text, k: "12" }));
    const answer = await response.json();
    if (mine !== latest) return;
    if (!response.ok) {
      hits.replaceChildren();
      say([answer.detail, answer.remedy].filter(Boolean).join(" "), true);
      return;
    }
    hits.replaceChildren(...answer.map(row));
    const languages = new Set(answer.map((hit) => hit.language)).size;
    const took = Number(response.headers.get("x-total-time"));
    say(`${answer.length} sentences in ${languages} languages, ${took.toFixed(1)} ms`);
  } catch {
    if (mine === latest) say("The service does not answer. Is it still running?", true);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = query.value.trim() || query.placeholder;
  query.value = text;
  search(text);
});

const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  query.value = asked;
  search(asked);
}
