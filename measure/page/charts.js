
// The figures.

const METRICS = [
  { key: "qps", title: "Rate", unit: "queries per second", larger: true },
  { key: "p50_us", title: "Latency, median", unit: "µs" },
  { key: "p99_us", title: "Latency, 99th percentile", unit: "µs" },
  { key: "reads_per_query", title: "Reads", unit: "per query" },
  { key: "bytes_per_query", title: "Bytes read", unit: "per query" },
];
// After Okabe and Ito: told apart by colour-blind readers; lighter on a dark ground.
const COLOURS = {
  light: ["#0072B2", "#D55E00", "#009E73", "#B8578F", "#B07A00", "#3A9BDC", "#6B4FBB", "#5B6470"],
  dark: ["#4FB0EE", "#FF8F4D", "#34CFA0", "#EDA3CF", "#F2BE4A", "#9AD8FA", "#B7A3F5", "#B6C0CC"],
};
const MARKERS = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded", "cross"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

const narrow = window.matchMedia("(max-width: 46rem)");
const theme = () => document.documentElement.dataset.theme;
const colourOf = (series) => COLOURS[theme()][series.colour % COLOURS.light.length];
const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function tick(value) {
  const digit = Number(Number(value).toExponential(6).split("e")[0]);
  if (![1, 2, 5].includes(digit)) return "";
  return new Intl.NumberFormat("en", { notation: "compact" }).format(value);
}

function axis(title, more) {
  return { title: { display: true, text: title, color: cssColour("--soft") },
    grid: { color: cssColour("--line") }, ...more,
    ticks: { color: cssColour("--soft"), maxRotation: 0, ...more.ticks } };
}

function datasets(metric, series, view) {
  return series.filter((one) => one.on).map((one) => {
    const rows = one.rows.filter((row) => view.shows(row) && row[metric.key] > 0 && row.recall >= view.least);
    const points = view.best ? best(rows, metric.key, metric.larger)
      : [...rows].sort((a, b) => a.recall - b.recall);
    const colour = colourOf(one);
    return { label: one.label, borderColor: colour, backgroundColor: colour, borderWidth: 1.8,
      pointStyle: MARKERS[one.marker % MARKERS.length], pointRadius: 4, pointHoverRadius: 7,
      pointHitRadius: 9, borderDash: DASHES[one.marker % DASHES.length],
      data: points.map((row) => ({ x: row.recall, y: row[metric.key], row })) };
  }).filter((one) => one.data.length > 0);
}

/// A little more than the points need.
function limits(sets) {
  const values = sets.flatMap((one) => one.data.map((point) => point.y));
  return values.length === 0 ? {} : { min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25 };
}

function options(metric, k, sets) {
  const small = narrow.matches;
  return { responsive: true, maintainAspectRatio: false, animation: false, parsing: false,
    interaction: { mode: "nearest", intersect: true },
    scales: {
      x: axis(`recall@${k}`, { type: "linear", ticks: { maxTicksLimit: small ? 6 : 11 } }),
      y: axis(small ? "" : metric.unit, { type: "logarithmic", ...limits(sets),
        ticks: { callback: tick, autoSkip: false } }),
    },
    plugins: { legend: { display: false }, tooltip: { enabled: false, external: showTip } } };
}

function addCharts(metrics, k) {
  return metrics.map((metric) => {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const unit = document.createElement("span");
    unit.textContent = ` (${metric.unit})`;
    caption.append(metric.title, unit);
    const box = document.createElement("div");
    box.className = "canvas";
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${metric.title} against recall; the table below has the numbers`);
    box.append(canvas);
    figure.append(caption, box);
    document.getElementById("charts").append(figure);
    const chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: options(metric, k, []) });
    return { metric, chart };
  });
}

const SAID_BELOW = ["command", "host", "tier_model"];

/// Everything that is known of the point under the pointer.
function showTip({ chart, tooltip }) {
  const tip = document.getElementById("tip");
  if (tooltip.opacity === 0 || !tooltip.dataPoints) { tip.hidden = true; return; }
  const { row } = tooltip.dataPoints[0].raw;
  const title = document.createElement("strong");
  title.textContent = row.$series.label;
  title.style.color = colourOf(row.$series);
  const list = document.createElement("dl");
  for (const [key, value] of Object.entries(row)) {
    if (key.startsWith("$") || SAID_BELOW.includes(key)) continue;
    addFact(list, key, shown(value));
  }
  tip.replaceChildren(title, list);
  tip.hidden = false;
  const place = chart.canvas.getBoundingClientRect();
  const put = (at, size, room) => Math.max(6, at + 16 + size > room ? at - 16 - size : at + 16);
  const left = put(place.left + tooltip.caretX, tip.offsetWidth, window.innerWidth);
  const top = Math.min(place.top + tooltip.caretY - 20, window.innerHeight - tip.offsetHeight - 6);
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}

function addFact(list, name, ...values) {
  const term = document.createElement("dt");
  term.textContent = name;
  const text = document.createElement("dd");
  text.append(...values);
  list.append(term, text);
}
