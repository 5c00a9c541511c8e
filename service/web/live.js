// Queue, batches and latency as they are now.

import { byId, element, say, shape } from "./dom.js";
import { parse, quantile, sum } from "./metrics.js";
import { ask } from "./service.js";
import { onTab } from "./tabs.js";

const EVERY_MS = 1000;
const KEPT = 120;
const WINDOW = 10;
const BURST_REQUESTS = 60;
const BURST_TEXTS = 5;

const milli = (seconds) => (Number.isFinite(seconds) ? `${(1000 * seconds).toPrecision(3)} ms` : "–");
const plain = (value) => (Number.isFinite(value) ? value.toLocaleString("en", { maximumFractionDigits: 1 }) : "–");

// Each: title, figure from (reading before, reading now, seconds between), how it is written.
const rate = (name) => (old, now, seconds) => (sum(now, name) - sum(old, name)) / seconds;
const mean = (name) => (old, now) =>
  (sum(now, `${name}_sum`) - sum(old, `${name}_sum`)) / (sum(now, `${name}_count`) - sum(old, `${name}_count`));
const percentile = (share) => (old, now) => quantile(old, now, "interlingua_request_seconds", share);
const GAUGES = [
  ["Requests a second", rate("interlingua_requests_total"), plain],
  ["Texts a second", rate("interlingua_batch_size_sum"), plain],
  ["Texts in a batch, mean", mean("interlingua_batch_size"), plain],
  ["Tokens waiting", (_, now) => sum(now, "interlingua_queue_depth"), plain],
  ["Wait in the queue, mean", mean("interlingua_queue_seconds"), milli],
  ["Latency, half below", percentile(0.5), milli],
  ["Latency, 95 % below", percentile(0.95), milli],
  ["Refused, all in all", (_, now) => sum(now, "interlingua_rejected_total"), plain],
];

const readings = [];
const curves = GAUGES.map(() => []);
let cells = [];
let timer = null;
let paused = false;

function curve(values) {
  const known = values.map((value) => (Number.isFinite(value) ? value : 0));
  const top = Math.max(...known, 1e-9);
  const at = (value, place) => `${((place + KEPT - known.length) / (KEPT - 1)) * 200},${38 - (value / top) * 34}`;
  const picture = shape("svg", { viewBox: "0 0 200 40", preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.append(shape("polyline", { points: known.map(at).join(" "), "vector-effect": "non-scaling-stroke" }));
  return picture;
}

async function read() {
  const { answer } = await ask({ path: "/metrics" });
  const samples = parse(answer);
  // Counters that fell are those of a service that was started again.
  const counted = (of) => sum(of, "interlingua_requests_total");
  if (readings.length && counted(samples) < counted(readings.at(-1).samples)) readings.length = 0;
  readings.push({ at: performance.now(), samples });
  if (readings.length > WINDOW) readings.shift();
  const [old, now] = [readings[0], readings.at(-1)];
  const previous = readings.at(-2) || now;
  GAUGES.forEach(([, figure, written], place) => {
    const seconds = Math.max(0.001, (now.at - old.at) / 1000);
    cells[place].value.textContent = written(readings.length > 1 ? figure(old.samples, now.samples, seconds) : NaN);
    const step = Math.max(0.001, (now.at - previous.at) / 1000);
    curves[place].push(figure(previous.samples, now.samples, step));
    if (curves[place].length > KEPT) curves[place].shift();
    cells[place].picture.replaceChildren(curve(curves[place]));
  });
}

async function tick() {
  try {
    await read();
    if (byId("live-status").classList.contains("problem")) say("live-status", "");
  } catch (problem) {
    say("live-status", problem.message, true);
  }
}

function run(on) {
  clearInterval(timer);
  timer = on ? setInterval(tick, EVERY_MS) : null;
  if (on) tick();
}

async function burst() {
  say("live-status", "Sending …");
  const send = (number) => {
    const inputs = Array.from({ length: BURST_TEXTS }, (_, place) => `Sentence ${number}.${place} of a burst from this page.`);
    return ask({ method: "POST", path: "/embed", body: { inputs }, tab: number ? undefined : "live" });
  };
  const begun = performance.now();
  const done = await Promise.allSettled(Array.from({ length: BURST_REQUESTS }, (_, number) => send(number)));
  const failed = done.find((one) => one.status === "rejected");
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  say("live-status", failed ? failed.reason.message : `${BURST_REQUESTS * BURST_TEXTS} sentences in ${BURST_REQUESTS} requests took ${seconds} s.`, Boolean(failed));
}

export function startLive() {
  cells = GAUGES.map(([title]) => {
    const value = element("output", {}, "–");
    const picture = element("div", { className: "curve" });
    byId("gauges").append(element("div", { className: "gauge-card" }, element("dt", {}, title), element("dd", {}, value, picture)));
    return { value, picture };
  });
  byId("pause").addEventListener("click", () => {
    paused = !paused;
    byId("pause").setAttribute("aria-pressed", String(paused));
    byId("pause").textContent = paused ? "Go on" : "Pause";
    run(!paused);
  });
  byId("burst").addEventListener("click", burst);
  onTab((name) => run(name === "live" && !paused));
}
