
// The table of all rows.

const COLUMNS = [...LINE_KEYS.slice(0, 2), ...POINT_KEYS, ...LINE_KEYS.slice(2), "recall", "qps",
  "p50_us", "p99_us", "mean_us", "reads_per_query", "bytes_per_query", "hops_per_query",
  "distances_per_query", "hit_ratio", "device_bound_qps", "compute_bound_qps", "compute_dram_bytes",
  "index_bytes"];
const MEASURED = COLUMNS.indexOf("recall");
const cell = (row, key) => (key === "index" ? row.$index : key === "slots" && row.slots_auto
  ? `auto (${row.slots})` : row[key]);

class Table {
  /// Columns that some row has, parameters only when they differ.
  constructor(element, rows) {
    this.element = element;
    this.rows = rows;
    this.by = "recall";
    this.down = true;
    this.columns = COLUMNS.filter((key, place) => {
      const values = new Set(rows.map((row) => shown(cell(row, key))));
      values.delete("");
      return values.size > (place < MEASURED && key !== "tier" && key !== "index" ? 1 : 0);
    });
    this.words = new Set(this.columns.filter((key) => rows.some((row) => typeof cell(row, key) === "string")));
    this.element.append(this.head(), document.createElement("tbody"));
  }

  head() {
    const head = document.createElement("thead");
    const line = head.insertRow();
    for (const key of this.columns) {
      const name = document.createElement("th");
      name.dataset.key = key;
      if (this.words.has(key)) name.className = "word";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = key.replace("_per_query", "/query").replaceAll("_", " ");
      button.addEventListener("click", () => this.sort(key));
      name.append(button);
      line.append(name);
    }
    return head;
  }

  sort(key) {
    this.down = key === this.by ? !this.down : !this.words.has(key);
    this.by = key;
    this.draw(this.view);
  }

  /// Rows without the value come last, whichever way.
  ordered(rows) {
    const sign = this.down ? -1 : 1;
    const missing = (value) => value === undefined || value === null;
    return [...rows].sort((one, other) => {
      const a = cell(one, this.by);
      const b = cell(other, this.by);
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      if (typeof a === "number" && typeof b === "number") return sign * (a - b);
      return sign * String(a).localeCompare(String(b), "en", { numeric: true });
    });
  }

  draw(view) {
    this.view = view;
    for (const name of this.element.tHead.rows[0].cells) {
      const chosen = name.dataset.key === this.by;
      name.ariaSort = chosen ? (this.down ? "descending" : "ascending") : "none";
      const button = name.firstChild;
      button.textContent = button.textContent.replace(/ [▲▼]$/, "") + (chosen ? (this.down ? " ▼" : " ▲") : "");
    }
    const body = document.createElement("tbody");
    for (const row of this.ordered(this.rows.filter((one) => one.$series.on && view.shows(one)))) {
      const line = body.insertRow();
      for (const key of this.columns) {
        const place = line.insertCell();
        place.textContent = shown(cell(row, key));
        if (this.words.has(key)) place.className = "word";
      }
    }
    this.element.tBodies[0].replaceWith(body);
  }
}
