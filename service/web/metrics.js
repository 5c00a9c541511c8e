// Prometheus' text format as figures, and figures between two readings.

// Not "/": texts are posted there too, by clients of Hugging Face's.
const OWN = new Set(["/docs", "/assets/{name}", "/favicon.ico", "/metrics", "/openapi.json", "unmatched"]);
const isOwn = (labels) => OWN.has(labels.route) || (labels.route || "").startsWith("/health");

export function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found || !found[1].startsWith("interlingua_")) continue;
    const labels = {};
    for (const [, name, value] of (found[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    samples.push({ name: found[1], labels, value: Number(found[3]) });
  }
  return samples;
}

export function sum(samples, name) {
  return samples
    .filter((sample) => sample.name === name && !isOwn(sample.labels))
    .reduce((total, sample) => total + sample.value, 0);
}

// Counts below each bound of a histogram, all its routes together.
function buckets(samples, name) {
  const counts = new Map();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket` || isOwn(sample.labels)) continue;
    const bound = sample.labels.le === "+Inf" ? Infinity : Number(sample.labels.le);
    counts.set(bound, (counts.get(bound) || 0) + sample.value);
  }
  return counts;
}

// The quantile of what was observed between two readings, as Prometheus' histogram_quantile; NaN for nothing.
export function quantile(before, after, name, share) {
  const old = buckets(before, name);
  const rows = [...buckets(after, name)].map(([bound, count]) => [bound, count - (old.get(bound) || 0)]);
  rows.sort((a, b) => a[0] - b[0]);
  const total = rows.length ? rows.at(-1)[1] : 0;
  if (total <= 0) return NaN;
  let [low, below] = [0, 0];
  for (const [bound, count] of rows) {
    if (count >= share * total) {
      if (bound === Infinity) return low;
      return low + ((bound - low) * (share * total - below)) / (count - below);
    }
    [low, below] = [bound, count];
  }
  return low;
}
