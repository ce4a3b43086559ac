// All points as a table, one of them with all that is known of it, and those that failed.
const kTold = "makespan_ps";

// Of all points those that are shown first: made-up metrics and the makespan.
const mainMetrics = [...sweep.expressions.map((e) => e[0]), kTold, ...(sweep.wall ? ["wall_s"] : [])].filter(
  (name, i, all) => metricNames.includes(name) && all.indexOf(name) === i,
);

class AllPoints {
  constructor() {
    this.whole = false;
    this.apart = false;
    this.chosen = [];
    this.failed = [];
    const controls = make("div", { class: "controls" });
    if (mainMetrics.length < metricNames.length)
      controls.append(this.check(`all ${metricNames.length} metrics`, (on) => (this.whole = on)));
    if (points.some((p) => p.rows.length > 1))
      controls.append(this.check("each repeat by itself", (on) => (this.apart = on)));
    at("all-body").append(controls);
    this.table = null;
  }

  check(label, set) {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      set(box.checked);
      this.table.setColumns(this.columns());
      this.draw();
    });
    return make("label", {}, box, label);
  }

  columns() {
    const objective = ofObjective.length > 0 && !this.apart ? ofObjective : [];
    return [
      numberColumn,
      ...axisColumns,
      ...(seedAxis >= 0 ? [{ title: sweep.axes[seedAxis].name, of: seedsOf, kind: "text" }] : []),
      ...objective.map((q) => columnOf(q)),
      ...(this.whole ? metricNames : mainMetrics).map((name) => columnOf(metricQuantity(name))),
      ...(failures.length > 0
        ? [{ title: "error", of: (p) => p.error, as: (v) => v, kind: "text name" }]
        : []),
    ];
  }

  rows() {
    const own = this.apart
      ? this.chosen.flatMap((p) => p.rows.map((row) => pointOf([row], null)))
      : this.chosen;
    return [...own, ...this.failed].sort((a, b) => a.number - b.number);
  }

  show(chosen, failed) {
    this.chosen = chosen;
    this.failed = failed;
    if (this.table) return this.draw();
    this.table = new Table(at("all-body"), {
      id: "table-all",
      caption: "All points",
      columns: this.columns(),
      rows: this.rows(),
      limit: 24,
    });
  }

  draw() {
    this.table.setRows(this.rows());
  }
}

// All that is known of a point, or of the one that `point` is a repeat of. With `go` the page is moved there.
function choosePoint(point, go) {
  const p = points.find((whole) => whole.rows.includes(point.rows[0])) ?? point;
  const host = at("one-body");
  host.replaceChildren(
    make("h3", {}, `Point ${p.number}${axes.length > 0 ? `: ${describe(p)}` : ""}`),
    make("pre", { class: "code", id: "one-command" }, p.rows.map(commandOf).join("\n")),
  );
  if (p.error !== "") host.append(make("ul", { class: "warnings" }, make("li", {}, p.error)));
  if (p.objective !== "" && ofObjective.length > 0)
    host.append(make("p", { class: "note" }, `${titled(objectiveName)}: ${shown(objectiveName, p.objective)}`));
  if (p.rows.length > 1) repeats(host, p);
  if (p.error === "") metricsOf(host, p);
  if (!go) return;
  at("one").scrollIntoView();
  host.tabIndex = -1;
  host.focus({ preventScroll: true });
}

function repeats(host, p) {
  const values = p.rows.map((row) => pointOf([row], null));
  const quantity = metricQuantity(metricNames.includes(objectiveName) ? objectiveName : kTold);
  const known = values.map(quantity.of).filter((v) => v !== "");
  const [least, most] = extent(known);
  const says =
    known.length > 0
      ? `: ${titled(quantity.name)} from ${shown(quantity.name, least)} to ${shown(quantity.name, most)}, ` +
        `median ${shown(quantity.name, median(known))}`
      : "";
  host.append(make("p", { class: "note" }, `Means over seeds ${seedsOf(p)}${says}.`));
}

// In two tables beside each other.
function metricsOf(host, p) {
  const has = metricNames.map(metricQuantity).filter((q) => q.of(p) !== "");
  const half = Math.ceil(has.length / 2);
  const frame = make("div", { class: "two" });
  for (const [i, part] of [has.slice(0, half), has.slice(half)].entries()) {
    const side = make("div");
    frame.append(side);
    if (part.length === 0) continue;
    new Table(side, {
      id: `table-one-${i}`,
      caption: `Metrics of point ${p.number}`,
      rows: part,
      limit: 100,
      filter: false,
      columns: [
        { title: "Metric", of: (q) => q.name, kind: "text name" },
        {
          title: "Value",
          of: (q) => q.of(p),
          as: String,
          cell: (q) => document.createTextNode(shown(q.name, q.of(p))),
        },
        { title: "As it is", of: (q) => q.of(p), as: String },
      ],
    });
  }
  host.append(frame);
}

// Errors with the points that have them, the most first.
function failedPoints() {
  if (failures.length === 0) return void at("failed").remove();
  const byError = new Map();
  for (const p of failures) {
    if (!byError.has(p.error)) byError.set(p.error, []);
    byError.get(p.error).push(p);
  }
  const rows = longest([...byError], ([, list]) => list.length);
  at("failed-body").append(
    make(
      "p",
      { class: "note" },
      `${many(failures.length, "point")} failed, with ${many(rows.length, "different error")}.`,
    ),
  );
  new Table(at("failed-body"), {
    id: "table-failed",
    caption: "Errors",
    rows,
    columns: [
      { title: "Points", of: ([, list]) => list.length, as: count },
      { title: "Error", of: ([error]) => error, kind: "text name" },
      {
        title: "First",
        of: ([, list]) => list[0].number,
        as: String,
        cell: ([, list]) => numberColumn.cell(list[0]),
      },
      ...axes.map((axis) => ({
        title: axis.name,
        kind: "text",
        of: ([, list]) => {
          const texts = [...new Set(list.map((p) => briefOf(axis, p)))];
          return texts.length > 4
            ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more`
            : texts.join(", ");
        },
      })),
    ],
  });
}
