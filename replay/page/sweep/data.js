// The results in the page (replay/sweep/page.h), as points and what can be said of each.
const sweep = JSON.parse(at("sweep").textContent);

const kNumber = 0; // of a row of the page
const kPlace = 2;
const kMetrics = 3;
const kWords = 4;
const kError = 5;

const isName = (text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
const isTime = (name) => isName(name) && name.endsWith("_ps");
// A metric where its values have units.
const titled = (name) => (isTime(name) ? name.slice(0, -"_ps".length) : name);
const metricNames = [...sweep.metrics, ...(sweep.wall ? ["wall_s"] : [])];
const better = sweep.objective.maximize ? -1 : 1; // times the objective: less is better
const objectiveName = sweep.objective.expression;

// `value` of a metric or expression, as `sweep table` prints it.
function shown(name, value) {
  if (value === "" || value === null || value === undefined) return "";
  if (isTime(name) && Math.abs(value) < 9e18) return time(Math.round(value));
  if (Number.isInteger(value) && value >= 0 && value < 1e15) return count(value);
  return digits(value);
}

// Metrics of several rows: means of those that all have.
const means = (rows) =>
  metricNames.map((_, m) => {
    const values = rows.map((row) => row[kMetrics][m]);
    return values.includes(null) ? null : values.reduce((sum, v) => sum + v) / values.length;
  });

const commandOf = (row) => `chakra-replay replay ${row[kWords].map((i) => sweep.words[i]).join(" ")}`;

// A point: its rows (one for each repeat), the number of the first, place by axis, metrics by name's number.
const pointOf = (rows, objective) => ({
  rows,
  number: rows[0][kNumber],
  place: rows[0][kPlace],
  metrics: means(rows),
  objective: objective ?? "",
  error: rows[0][kError] ?? "",
});

const points = sweep.points.map(([objective, rows]) =>
  pointOf(
    rows.map((i) => sweep.rows[i]),
    objective,
  ),
);
const failures = sweep.rows.filter((row) => row.length > kError).map((row) => pointOf([row], null));

// Axes but that of repeats.
const axes = sweep.axes
  .map((axis, index) => ({ ...axis, index }))
  .filter((axis) => !axis.seed)
  .map((axis) => ({ ...axis, varies: new Set(points.map((p) => p.place[axis.index])).size > 1 }));
const seedAxis = sweep.axes.findIndex((axis) => axis.seed);

const textOf = (axis, point) => axis.values[point.place[axis.index]];
const seedsOf = (point) =>
  point.rows.map((row) => sweep.axes[seedAxis].values[row[kPlace][seedAxis]]).join(", ");
const kLongNumber = 10; // digits that a reader takes in at once, and more
// A value of an axis where there is little room: four digits of a number that was drawn.
const brief = (axis, value) =>
  axis.numbers && axis.values[value].length > kLongNumber ? digits(axis.numbers[value]) : axis.values[value];
const briefOf = (axis, point) => brief(axis, point.place[axis.index]);
const describe = (point) => axes.map((axis) => `${axis.name} ${briefOf(axis, point)}`).join(", ");

// What a point has a number of: { name, of: point => number or "", axis: of texts, whose numbers are its values }.
const metricQuantity = (name) => {
  const m = metricNames.indexOf(name);
  return { name, of: (p) => p.metrics[m] ?? "" };
};
const axisQuantity = (axis) => ({
  name: axis.name,
  axis,
  of: (p) => (axis.numbers ? axis.numbers[p.place[axis.index]] : p.place[axis.index]),
});
const objectiveQuantity = { name: objectiveName, of: (p) => p.objective };
const ofObjective = metricNames.includes(objectiveName) ? [] : [objectiveQuantity];
const numberQuantity = { name: "point", of: (p) => p.number };

// Columns of tables.
const numberColumn = {
  title: "Point",
  of: (p) => p.number,
  as: String,
  cell: (p) => {
    const button = make(
      "button",
      { type: "button", class: "link", "aria-label": `Point ${p.number}` },
      `${p.number}`,
    );
    button.addEventListener("click", () => choosePoint(p, true));
    return button;
  },
};
const axisColumns = axes.map((axis) => ({
  title: axis.name,
  of: (p) => textOf(axis, p),
  as: (v) => v,
  kind: axis.numbers ? undefined : "text",
}));
const columnOf = (quantity, more) => ({
  title: titled(quantity.name),
  of: quantity.of,
  as: (v) => shown(quantity.name, v),
  ...more,
});

// The chosen points with an objective, the best first; of equal ones the first.
const ranked = (chosen) =>
  chosen
    .filter((p) => p.objective !== "")
    .sort((a, b) => better * (a.objective - b.objective) || a.number - b.number);

// The least and the largest, of any number of values.
const extent = (values) =>
  values.reduce(([least, most], v) => [Math.min(least, v), Math.max(most, v)], [Infinity, -Infinity]);

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
