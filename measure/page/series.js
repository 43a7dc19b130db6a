
// From the rows of sweeps to series: what is a point, what a line, what can be switched.

// What tells the points of one line apart, and what the lines; everything else was measured.
const POINT_KEYS = ["list", "width", "probe", "prune_ratio"];
const LINE_KEYS = ["tier", "index", "k", "search", "buffer", "memory_budget", "min_complete",
  "slots", "threads", "cache_bytes", "dedup", "queries_range", "passes", "pass_ms"];
const LINE_WORDS = { index: "index", tier: "tier", cache_bytes: "cache", memory_budget: "budget",
  queries_range: "queries", min_complete: "complete", pass_ms: "pass ms" };

const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function shown(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") {
    return Number.isInteger(value) || Math.abs(value) >= 1e4 ? whole.format(value) : number.format(value);
  }
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.map(shown).join(" to ");
  if (typeof value !== "object") return value;
  return Object.entries(value).map(([name, one]) => `${name} ${shown(one)}`).join(", ");
}

/// "data set, layout", with the folder's name where that does not tell indexes apart.
function nameIndexes(rows) {
  const names = new Map();
  const kind = (row) => row.layout || row.kind || row.index_kind || "index";
  for (const row of rows) {
    const name = kind(row);
    if (!names.has(name)) names.set(name, new Set());
    names.get(name).add(`${row.dataset}\n${row.index}\n${row.index_xxh3 || ""}`);
  }
  const several = new Set(rows.map((row) => row.dataset)).size > 1;
  for (const row of rows) {
    const parts = [kind(row)];
    if (names.get(parts[0]).size > 1) parts.push(lastWord(row.index));
    row.$index = (several ? `${lastWord(row.dataset)}: ` : "") + parts.join(" ");
  }
}

function lastWord(path) {
  return String(path || "").replace(/\/+$/, "").split("/").pop();
}

function lineValue(row, key) {
  if (key === "index") return row.$index;
  if (key === "slots" && row.slots_auto) return "auto";
  return shown(row[key]);
}

/// Without the rows that have none: a graph has no number of probes.
function valuesOf(rows, key) {
  return [...new Set(rows.map((row) => lineValue(row, key)))].filter((value) => value !== "");
}

/// The keys that have more than one value among the rows.
function varyingKeys(rows) {
  return LINE_KEYS.filter((key) => valuesOf(rows, key).length > 1);
}

function wordOf(key, value) {
  if (key === "tier" || key === "index") return value;
  return value === "" ? "" : `${LINE_WORDS[key] || key} ${value}`;
}

function seriesOf(rows, keys) {
  const found = new Map();
  for (const row of rows) {
    const values = keys.map((key) => lineValue(row, key));
    const id = values.join("\n");
    if (!found.has(id)) {
      const words = keys.map((key, i) => wordOf(key, values[i]));
      found.set(id, { values, label: words.filter(Boolean).join(", ") || row.$index || "all", rows: [], on: true });
    }
    found.get(id).rows.push(row);
    row.$series = found.get(id);
  }
  return [...found.values()];
}

/// Colour by the first key that varies, marker and dash by the others together.
function style(series, keys) {
  const colours = [];
  const markers = [];
  const place = (list, value) => (list.includes(value) ? list.indexOf(value) : list.push(value) - 1);
  for (const one of series) {
    one.colour = place(colours, keys.length ? one.values[0] : "");
    one.marker = place(markers, one.values.slice(1).join("\n"));
  }
}

/// Those that no other of the same line beats in both recall and `metric`.
function best(rows, metric, larger) {
  const sign = larger ? 1 : -1;
  const kept = [];
  for (const row of [...rows].sort((a, b) => b.recall - a.recall || sign * (b[metric] - a[metric]))) {
    const last = kept[kept.length - 1];
    if (!last || sign * (row[metric] - last[metric]) > 0) kept.push(row);
  }
  return kept.reverse();
}
