// What each axis does to the objective: over the chosen points with one value of it the median, least and largest.
const kMostParts = 8; // of an axis of many numbers
const kMostBars = 24; // of a chart; the table has all

function effectOf(axis, chosen) {
  const values = new Map();
  for (const p of chosen) {
    const at = p.place[axis.index];
    if (!values.has(at)) values.set(at, []);
    values.get(at).push(p.objective);
  }
  const used = [...values.keys()];
  const most = used.length > kMostBars ? kMostParts : used.length;
  const rows = partsOf(axis, used, most).map((part) => {
    const all = part.values.flatMap((v) => values.get(v));
    const [least, largest] = extent(all);
    return { axis, name: part.name, points: all.length, least, largest, median: median(all) };
  });
  const [from, to] = extent(rows.map((row) => row.median));
  return { axis, rows, from, to, factor: from > 0 ? to / from : NaN };
}

function factorOf(effect, words) {
  if (Number.isNaN(effect.factor)) return "";
  return `, ${words} ${effect.factor < 1000 ? effect.factor.toPrecision(3) : count(Math.round(effect.factor))}`;
}

// Marks of the medians on floating horizontal bars.
const medianMarks = (medians) => ({
  id: "medians",
  afterDatasetsDraw(c) {
    c.ctx.save();
    c.ctx.fillStyle = colour("mark");
    c.getDatasetMeta(0).data.forEach((bar, i) => {
      const x = c.scales.x.getPixelForValue(medians[i]);
      c.ctx.fillRect(x - 1.5, bar.y - 9, 3, 18);
    });
    c.ctx.restore();
  },
});

class Effects {
  constructor() {
    this.entries = [];
    this.table = null;
  }

  show(chosen) {
    const order = ranked(chosen);
    const effects = axes.map((axis) => effectOf(axis, order)).filter((effect) => effect.rows.length > 1);
    const factors = effects.every((e) => !Number.isNaN(e.factor));
    const size = (e) => (factors ? e.factor : e.to - e.from);
    effects.sort((a, b) => size(b) - size(a));
    this.say(order, effects);
    // Charts of before go, with their canvases.
    for (const entry of this.entries) {
      entry.drawn.destroy();
      charts.splice(charts.indexOf(entry), 1);
    }
    at("effects-charts").replaceChildren();
    const [least, largest] = extent(order.map((p) => p.objective));
    this.entries = effects.map((effect) => this.chart(effect, least, largest));
    this.draw(effects.flatMap((effect) => effect.rows));
  }

  say(order, effects) {
    at("effects-table").hidden = effects.length === 0;
    if (effects.length === 0) {
      at("effects-text").textContent =
        order.length === 0
          ? "There is nothing to compare."
          : "The chosen points have one value of each axis.";
      return;
    }
    const [first] = effects;
    const named = (median) =>
      `${shown(objectiveName, median)} (${first.rows.find((r) => r.median === median).name})`;
    at("effects-text").textContent =
      `Of the axes ${first.axis.name} matters most: medians from ${named(first.from)} to ${named(first.to)}${factorOf(first, "a factor of")}.`;
  }

  chart(effect, least, largest) {
    const host = make("div", { class: "effect" });
    at("effects-charts").append(host);
    const rows = effect.rows.slice(0, kMostBars);
    const left = effect.rows.length - rows.length;
    host.append(
      make("h3", {}, effect.axis.name),
      make(
        "p",
        { class: "note" },
        `Medians from ${shown(objectiveName, effect.from)} to ${shown(objectiveName, effect.to)}${factorOf(effect, "factor")}.` +
          (left > 0 ? ` ${count(left)} more values are in the table.` : ""),
      ),
    );
    const scale = new Scale({ name: objectiveName }, least, largest);
    return chart(host, `${titled(objectiveName)} by ${effect.axis.name}`, 62 + 25 * rows.length, () => ({
      type: "bar",
      data: {
        labels: rows.map((row) => short(row.name, host.clientWidth < 420 ? 18 : 26)),
        datasets: [
          {
            // A bar of one value is still to be seen.
            data: rows.map((row) => [row.least / scale.size, row.largest / scale.size]),
            minBarLength: 3,
            barThickness: 12,
            borderRadius: 3,
            borderSkipped: false,
            backgroundColor: `${colour("plain")}88`,
          },
        ],
      },
      options: {
        indexAxis: "y",
        layout: { padding: { right: 8 } },
        scales: {
          x: { ...scale.options("linear"), grace: "2%" },
          y: { grid: { display: false }, ticks: { autoSkip: false } },
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: (items) => `${effect.axis.name} ${rows[items[0].dataIndex].name}`,
              label: (item) => {
                const row = rows[item.dataIndex];
                return [
                  `median ${shown(objectiveName, row.median)}`,
                  `${shown(objectiveName, row.least)} to ${shown(objectiveName, row.largest)}`,
                  many(row.points, "point"),
                ];
              },
            },
          },
        },
      },
      plugins: [medianMarks(rows.map((row) => row.median / scale.size))],
    }));
  }

  draw(rows) {
    if (this.table) return this.table.setRows(rows);
    at("effects-table").append(
      make(
        "p",
        { class: "note" },
        `Bars go from the least to the largest ${titled(objectiveName)} of the chosen points with that value, marks are medians.`,
      ),
    );
    const column = (title, of) => ({ title, of, as: (v) => shown(objectiveName, v) });
    this.table = new Table(at("effects-table"), {
      id: "table-effects",
      caption: "Effect of each axis",
      rows,
      columns: [
        { title: "Axis", of: (r) => r.axis.name, kind: "text" },
        { title: "Value", of: (r) => r.name, as: (v) => v, kind: "text name" },
        { title: "Points", of: (r) => r.points, as: count },
        column("Median", (r) => r.median),
        column("Least", (r) => r.least),
        column("Largest", (r) => r.largest),
      ],
    });
  }
}
