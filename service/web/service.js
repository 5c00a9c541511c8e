// One way to the service: JSON in, JSON out, and a Problem where it refuses.

const KEY = "interlingua-key";

export class Problem extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
};

export const asked = new EventTarget();

// tab: where the reader made the request, and sees it as curl; none where the page asks by itself.
export async function ask({ method = "GET", path, query, body, tab }) {
  const address = query ? `${path}?${new URLSearchParams(query)}` : path;
  const headers = {};
  if (body) headers["content-type"] = "application/json";
  if (key.get()) headers.authorization = `Bearer ${key.get()}`;
  if (tab) asked.dispatchEvent(new CustomEvent("asked", { detail: { method, path, query, body, tab } }));
  let response;
  try {
    response = await fetch(address, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Problem(0, "The service does not answer. Is it still running?");
  }
  const isText = (response.headers.get("content-type") || "").startsWith("text/plain");
  const answer = isText ? await response.text() : await response.json().catch(() => null);
  if (!response.ok) {
    if (response.status === 401) asked.dispatchEvent(new Event("key-wanted"));
    const said = [answer && answer.detail, answer && answer.remedy].filter(Boolean).join(" ");
    throw new Problem(response.status, said || `The service answered ${response.status}.`);
  }
  return { answer, timing: timing(response.headers.get("server-timing")) };
}

// Answers may come in another order than the questions: each turn says whether it is still the last.
export function turns() {
  let last = 0;
  return () => {
    const mine = ++last;
    return () => mine === last;
  };
}

// "queue;dur=0.01, total;dur=3.2" -> {queue: 0.01, total: 3.2}, milliseconds.
export function timing(header) {
  const parts = {};
  for (const [, name, took] of (header || "").matchAll(/([\w-]+);dur=([\d.]+)/g)) parts[name] = Number(took);
  return parts;
}
