// Tables: each column { title, of: row => value as in the report, as: value => text, kind: "text" or none,
// share: whether a bar shows the part of the largest, colour: row => class of that bar, cell: row => element in
// place of the text }. A cell keeps the value as it is in the report in data-v. Rows without a number ("") are the
// last in any order.
const kRows = 12;

function compare(a, b) {
  const x = Number(a);
  const y = Number(b);
  if (!Number.isNaN(x) && !Number.isNaN(y) && a !== "" && b !== "") return x - y;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

class Table {
  // options: { caption, columns, rows, limit, filter, id }. The table is put at the end of `host`.
  constructor(host, options) {
    this.columns = options.columns;
    this.rows = options.rows;
    this.limit = options.limit ?? kRows;
    this.sort = null;
    this.words = "";
    this.body = make("tbody");
    this.table = make(
      "table",
      { id: options.id, "data-rows": this.rows.length },
      make("caption", {}, options.caption),
      (this.top = make("thead", {}, this.head())),
      this.body,
    );
    this.cut = make("p", { class: "cut", "aria-live": "polite" });
    if (options.filter !== false && this.rows.length > kRows) host.append(this.filterBox(options.caption));
    this.frame = make("div", { class: "scroll", role: "region", "aria-label": options.caption }, this.table);
    host.append(this.frame, this.cut);
    addEventListener("resize", () => this.reach());
    this.draw();
  }

  // On a narrow page rows that do not fit become cards. A frame is a stop of the tab key where there is something to
  // scroll.
  reach() {
    this.table.classList.remove("cards");
    if (innerWidth <= 600 && this.frame.scrollWidth > this.frame.clientWidth) this.table.classList.add("cards");
    this.frame.tabIndex = this.frame.scrollWidth > this.frame.clientWidth ? 0 : -1;
  }

  head() {
    this.heads = this.columns.map((column) => {
      const button = make("button", { type: "button" }, column.title);
      button.addEventListener("click", () => this.sortBy(column));
      return make("th", { scope: "col", class: column.kind, "aria-sort": "none" }, button);
    });
    return make("tr", {}, ...this.heads);
  }

  filterBox(what) {
    const box = make("input", { type: "search", placeholder: "part of a name" });
    box.addEventListener("input", () => {
      this.words = box.value.trim().toLowerCase();
      this.draw();
    });
    return make(
      "div",
      { class: "controls" },
      make("label", {}, "Filter", box, make("span", { class: "skip" }, what)),
    );
  }

  setRows(rows) {
    this.rows = rows;
    this.table.dataset.rows = rows.length;
    this.draw();
  }

  setColumns(columns) {
    this.columns = columns;
    this.top.replaceChildren(this.head());
    this.sort = null;
    this.draw();
  }

  // Numbers: the largest first, then the smallest; texts the other way round.
  sortBy(column) {
    const first = column.kind ? 1 : -1;
    const sign = this.sort && this.sort.column === column ? -this.sort.sign : first;
    this.sort = { column, sign };
    this.heads.forEach((head, i) =>
      head.setAttribute(
        "aria-sort",
        this.columns[i] !== column ? "none" : sign > 0 ? "ascending" : "descending",
      ),
    );
    this.draw();
  }

  chosen() {
    let rows = this.rows;
    if (this.words !== "") {
      const has = (row) => (column) =>
        String((column.as ?? text)(column.of(row)))
          .toLowerCase()
          .includes(this.words);
      rows = rows.filter((row) => this.columns.some(has(row)));
    }
    if (this.sort) {
      const { column, sign } = this.sort;
      const of = (row) => column.of(row) ?? 0;
      const missing = (row) => !column.kind && of(row) === "";
      rows = [...rows].sort((a, b) => missing(a) - missing(b) || sign * compare(of(a), of(b)));
    }
    return rows;
  }

  draw() {
    const rows = this.chosen();
    const shown = rows.slice(0, this.limit);
    const most = this.columns.map((column) =>
      column.share ? this.rows.reduce((m, row) => Math.max(m, number(column.of(row))), 0) : 0,
    );
    this.body.replaceChildren(
      ...shown.map((row) =>
        make("tr", {}, ...this.columns.map((column, i) => this.cell(column, row, most[i]))),
      ),
    );
    this.cut.replaceChildren();
    if (rows.length === 0) this.cut.append(this.words === "" ? "None." : "Nothing has that in it.");
    if (rows.length > shown.length) {
      this.cut.append(`${count(shown.length)} of ${count(rows.length)} rows. `, this.more(rows.length));
    }
    this.reach();
  }

  more(all) {
    const next = Math.min(all, Math.max(100, 4 * this.limit));
    const button = make("button", { type: "button" }, next === all ? "Show all" : `Show ${count(next)}`);
    button.addEventListener("click", () => {
      this.limit = next;
      this.draw();
      this.frame.focus();
    });
    return button;
  }

  cell(column, row, most) {
    const value = column.of(row);
    const cell = make("td", {
      class: column.kind,
      "data-v": String(value ?? (column.kind ? "" : 0)),
      "data-title": column.title,
    });
    if (column.cell) cell.append(column.cell(row));
    else cell.append(...(column.kind ? breakable : Array.of)((column.as ?? text)(value)));
    if (column.share && most > 0) {
      const bar = make("span", {
        class: `share ${column.colour ? column.colour(row) : ""}`,
        "aria-hidden": "true",
      });
      bar.style.width = `${(100 * number(value)) / most}%`;
      cell.append(bar);
    }
    return cell;
  }
}

// The rows with the most of `of` first; equal ones stay in their order.
const longest = (rows, of) => [...rows].sort((a, b) => number(of(b)) - number(of(a)));

// How a column writes its values, by unit, with `digits` after the point; and the classes of texts.
const kWrites = {
  TIME: () => time,
  BYTES: () => bytes,
  BANDWIDTH: () => (v) => `${digits(number(v) / 1e9)} GB/s`,
  COUNT: () => count,
  NUMBER: () => plain,
  ENERGY: () => joules,
  SHARE: (n) => (v) => `${(100 * number(v)).toFixed(n)} %`,
  REAL: (n) => (v) => real(v, n),
};
const kKinds = { TEXT: "text", NAME: "text name", HASH: "text hash" };

// The columns that kShown has for a table, without those of some groups, and those that are only there if any of
// `rows` has more than 0. `own` changes some of them, by field; `more` are [place, column] beside them.
function columnsOf(table, { rows = [], without = [], own = {}, more = [] } = {}) {
  const shown = kShown[table]
    .filter((c) => !without.includes(c.group) && !(c.any && rows.every((row) => number(row[c.of]) === 0)))
    .map((c) => [
      c.at,
      {
        title: c.title,
        kind: kKinds[c.unit],
        of: kKinds[c.unit] ? (row) => row[c.of] ?? "" : (row) => row[c.of],
        as: kWrites[c.unit]?.(c.digits),
        share: c.bar !== undefined,
        colour: () => c.bar,
        ...own[c.of],
      },
    ]);
  return [...shown, ...more].sort((a, b) => a[0] - b[0]).map(([, column]) => column);
}
