
// The page: switches, and everything drawn anew when one of them moves.

const all = JSON.parse(document.getElementById("data").textContent);
const rows = all.filter((row) => row.error === undefined);
const failures = all.filter((row) => row.error !== undefined);
nameIndexes(rows);
const keys = varyingKeys(rows);
const series = seriesOf(rows, keys);
style(series, keys);
const swatches = [];
const off = new Map(keys.map((key) => [key, new Set()]));
const view = { best: rows.some((row) => row.width !== rows[0].width), least: 0,
  shows: (row) => keys.every((key) => !off.get(key).has(lineValue(row, key))) };
const preference = window.matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.theme = preference.matches ? "dark" : "light";
const k = [...new Set(rows.map((row) => row.k))].join(", ");
const charts = addCharts(METRICS.filter(({ key }) => rows.some((row) => row[key] > 0)), k);
const table = new Table(document.getElementById("rows"), rows);

function draw() {
  for (const { metric, chart } of charts) {
    chart.data.datasets = datasets(metric, series, view);
    chart.options = options(metric, k, chart.data.datasets);
    chart.update();
  }
  table.draw(view);
  document.getElementById("nothing").hidden = rows.some((row) => row.$series.on && view.shows(row));
}

function swatch(one) {
  const at = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  at.setAttribute("width", "26");
  at.setAttribute("height", "12");
  const line = document.createElementNS(at.namespaceURI, "line");
  const attributes = { x1: 0, x2: 26, y1: 6, y2: 6, "stroke-width": 2,
    "stroke-dasharray": DASHES[one.marker % DASHES.length].join(" ") };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
  const mark = document.createElementNS(at.namespaceURI, "path");
  mark.setAttribute("d", SHAPES[MARKERS[one.marker % MARKERS.length]]);
  mark.setAttribute("stroke-width", "1.6");
  at.append(line, mark);
  at.paint = () => { for (const part of [line, mark]) {
    part.setAttribute("stroke", colourOf(one));
    part.setAttribute("fill", colourOf(one));
  } };
  swatches.push(at);
  return at;
}
const SQUARE = "M9 2h8v8h-8z";
const SHAPES = { circle: "M9 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", rect: SQUARE, rectRounded: SQUARE,
  triangle: "M13 1.5L17.5 10h-9z", rectRot: "M13 1l5 5l-5 5l-5-5z", crossRot: "M9 2l8 8M17 2l-8 8",
  cross: "M13 1v10M8 6h10", star: "M13 1v10M8 6h10M9.5 2.5l7 7M16.5 2.5l-7 7" };

function addSwitch(parent, text, on, change, mark) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = on;
  box.addEventListener("change", () => { change(box.checked); draw(); });
  label.append(box, ...(mark ? [mark] : []), text);
  parent.append(label);
  return label;
}

function addGroup(name, parent = document.getElementById("switches")) {
  const group = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = name;
  group.append(legend);
  parent.append(group);
  return group;
}

function addSwitches() {
  for (const key of keys) {
    const group = addGroup(LINE_WORDS[key] || key);
    for (const value of valuesOf(rows, key)) {
      const change = (on) => (on ? off.get(key).delete(value) : off.get(key).add(value));
      addSwitch(group, value, true, change).dataset.key = key;
    }
  }
  addLines();
  const group = addGroup("show");
  addSwitch(group, "only the best points of a line", view.best, (on) => { view.best = on; })
    .className = "plain";
  const label = document.createElement("label");
  label.className = "plain";
  const least = document.createElement("input");
  Object.assign(least, { type: "number", min: 0, max: 1, step: 0.01, value: 0 });
  least.addEventListener("input", () => { view.least = Number(least.value); draw(); });
  label.append("recall from", least);
  group.append(label);
}

function addLines() {
  const fold = document.createElement("details");
  fold.open = series.length <= 12;
  const summary = document.createElement("summary");
  summary.textContent = `${series.length} line${series.length === 1 ? "" : "s"}`;
  fold.append(summary);
  const group = addGroup("lines", fold);
  group.firstChild.remove();
  for (const one of series) {
    addSwitch(group, one.label, true, (on) => { one.on = on; }, swatch(one)).dataset.line = one.label;
  }
  document.getElementById("switches").append(fold);
}

const values = (key, from = all) => [...new Set(from.map((row) => row[key]).filter(Boolean))];

function addText() {
  const sets = values("dataset").map(lastWord);
  document.getElementById("title").textContent = `farvec: ${sets.join(", ") || "report"}`;
  document.title = document.getElementById("title").textContent;
  const facts = [...values("metric"), ...values("dtype"), `${rows.length} combinations`];
  if (values("degree").length === 1) facts.push(`degree ${values("degree")[0]}`);
  document.getElementById("subtitle").textContent = facts.join(" · ");
  const notes = document.getElementById("notes");
  for (const tier of values("tier", rows)) {
    const model = rows.find((row) => row.tier === tier && row.tier_model)?.tier_model;
    if (!model) continue;
    const note = document.createElement("p");
    const modelled = tier.startsWith("emulated");
    note.textContent = `${tier}${modelled ? " is a model" : ""}: ${shown(model)}`;
    if (modelled) note.className = "model";
    notes.append(note);
  }
  addFailures();
  addOrigin();
}

function addFailures() {
  document.getElementById("failures").hidden = failures.length === 0;
  for (const row of failures) {
    const item = document.createElement("li");
    const choice = [...POINT_KEYS, "slots", "threads"].filter((key) => row[key] !== undefined)
      .map((key) => `${key} ${shown(row[key])}`);
    item.textContent = `${[row.tier, row.layout, ...choice].filter(Boolean).join(", ")}: ${row.error}`;
    document.querySelector("#failures ul").append(item);
  }
}

function addOrigin() {
  const list = document.querySelector("#origin dl");
  const words = { host: "machine", dataset: "data set", index: "index", commit: "farvec's commit" };
  for (const [key, word] of Object.entries(words)) {
    if (values(key).length) addFact(list, word, values(key).map(shown).join("; "));
  }
  const commands = values("command").map((command) => {
    const code = document.createElement("code");
    code.textContent = command;
    return code;
  });
  if (commands.length) addFact(list, commands.length === 1 ? "command" : "commands", ...commands);
  document.getElementById("library").textContent = `Chart.js ${Chart.version}`;
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "☀ light" : "☾ dark";
  for (const one of swatches) one.paint();
  draw();
}

addSwitches();
addText();
setTheme(preference.matches);
preference.addEventListener("change", () => setTheme(preference.matches));
document.getElementById("theme").addEventListener("click", () => setTheme(theme() !== "dark"));
narrow.addEventListener("change", draw);
document.documentElement.dataset.ready = "yes";
