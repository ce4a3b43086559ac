// Points in a chart: any quantity against any other, in classes of an axis, with the Pareto front of the two.

// Less is better of all metrics but bandwidths; the objective says so itself.
function moreIsBetter(quantity) {
  if (quantity.name === objectiveName) return sweep.objective.maximize;
  return /(^|_)(algbw|busbw)_/.test(quantity.name);
}

// The points than which none is better in one and no worse in the other, by x.
function paretoFront(candidates, x, y, xSign, ySign) {
  const cost = (p) => [xSign * x.of(p), ySign * y.of(p)];
  const order = candidates
    .map((p) => ({ p, cost: cost(p) }))
    .sort((a, b) => a.cost[0] - b.cost[0] || a.cost[1] - b.cost[1]);
  const front = [];
  for (const one of order) {
    const last = front[front.length - 1];
    const equal = last && last.cost[0] === one.cost[0] && last.cost[1] === one.cost[1];
    if (!last || equal || one.cost[1] < last.cost[1]) front.push(one);
  }
  return front.map((one) => one.p);
}

// Whether one quantity says of all points what the other says, in another unit or from another zero.
function rescales(a, b) {
  const pairs = points.map((p) => [a.of(p), b.of(p)]).filter(([x, y]) => x !== "" && y !== "");
  const [least, most] = extent(pairs.map(([x]) => x));
  if (!(most > least)) return false;
  const low = pairs.find(([x]) => x === least)[1];
  const high = pairs.find(([x]) => x === most)[1];
  const slope = (high - low) / (most - least);
  return slope !== 0 && pairs.every(([x, y]) => Math.abs(low + slope * (x - least) - y) <= 1e-9 * Math.abs(high - low));
}

class Scatter {
  constructor() {
    this.quantities = [
      ...ofObjective,
      ...metricNames.map(metricQuantity).filter((q) => points.some((p) => q.of(p) !== "")),
      ...axes.map(axisQuantity),
      numberQuantity,
    ];
    this.hidden = new Set();
    this.chosen = [];
    this.at = -1; // of the keyboard, in this.order
    const host = at("chart-body");
    if (points.length === 0) {
      host.append(empty("No point has a result."));
      this.empty = true;
      return;
    }
    this.controls(host);
    this.keys = make("ul", { class: "keys", "aria-label": "Classes of points" });
    host.append(this.keys);
    this.frame = make("div");
    this.said = make("p", { class: "note", id: "chart-said", "aria-live": "polite" });
    host.append(this.frame, this.said);
  }

  // What a reader asks first: a price against the objective, else the objective along the numbers of an axis.
  begin() {
    const find = (name) => this.quantities.findIndex((q) => q.name === name);
    this.y = Math.max(0, find(objectiveName));
    const priced = sweep.expressions
      .map((e) => find(e[0]))
      .find((i) => i >= 0 && i !== this.y && !rescales(this.quantities[i], this.quantities[this.y]));
    const varied = axes.find((a) => a.varies && a.numbers) ?? axes.find((a) => a.varies);
    this.x = priced ?? (sweep.search || !varied ? find("point") : find(varied.name));
    const few = (a) => new Set(points.map((p) => p.place[a.index])).size;
    const texts = axes.filter((a) => a.varies && a.name !== this.quantities[this.x].name);
    const by =
      texts.filter((a) => !a.numbers && few(a) <= kMostGlyphs).sort((a, b) => few(b) - few(a))[0] ?? texts[0];
    this.by = by ? axes.indexOf(by) + 1 : 0;
    this.front = priced !== undefined;
  }

  controls(host) {
    this.begin();
    const list = (label, id, value, options, set) => {
      const [box, inner] = select(label, options, (i) => this.change(() => set(i)));
      [inner.value, inner.id] = [value, id];
      return box;
    };
    const names = this.quantities.map((q) => q.name);
    const quantity = (label, which) =>
      list(label, `chart-${which}`, this[which], names, (i) => {
        this[which] = i;
        this.fresh(which);
      });
    const check = (label, id, set) => {
      const box = make("input", { type: "checkbox", id });
      box.addEventListener("change", () => this.change(() => set(box.checked)));
      return [make("label", {}, box, label), box];
    };
    const [logX, xBox] = check("log", "chart-log-x", (on) => (this.logX = on));
    const [logY, yBox] = check("log", "chart-log-y", (on) => (this.logY = on));
    const [front, frontBox] = check("Pareto front", "chart-front", (on) => (this.front = on));
    this.boxes = { xBox, yBox, frontBox };
    const more = ["less", "more"];
    this.moreX = list("Better across", "chart-better-x", 0, more, (i) => (this.signX = i));
    this.moreY = list("Better upwards", "chart-better-y", 0, more, (i) => (this.signY = i));
    this.fresh("x");
    this.fresh("y");
    const by = list("Colour by", "chart-by", this.by, ["nothing", ...axes.map((a) => a.name)], (i) => {
      this.by = i;
      this.hidden.clear();
    });
    const all = [
      quantity("Upwards", "y"),
      logY,
      quantity("Across", "x"),
      logX,
      by,
      front,
      this.moreX,
      this.moreY,
    ];
    host.append(make("div", { class: "controls" }, ...all));
  }

  // What follows from another quantity: whether more of it is better, and whether its values need a logarithm.
  fresh(which) {
    const quantity = this.quantities[this[which]];
    const [least, most] = extent(points.map(quantity.of).filter((v) => v !== ""));
    const log = !quantity.axis && least > 0 && most / least > 10;
    const sign = moreIsBetter(quantity) ? 1 : 0;
    if (which === "x") [this.logX, this.signX] = [log, sign];
    else [this.logY, this.signY] = [log, sign];
  }

  change(set) {
    set();
    this.draw();
  }

  show(chosen) {
    if (this.empty) return;
    this.chosen = chosen;
    this.draw();
  }

  draw() {
    const [x, y] = [this.quantities[this.x], this.quantities[this.y]];
    const has = this.chosen.filter((p) => x.of(p) !== "" && y.of(p) !== "");
    const kinds = classesOf(this.by === 0 ? null : axes[this.by - 1]);
    this.classes = kinds
      .map((kind) => ({ ...kind, points: has.filter(kind.has) }))
      .filter((k) => k.points.length > 0);
    this.visible = this.classes.filter((k) => !this.hidden.has(k.name)).flatMap((k) => k.points);
    const fits = (q) => !q.axis || q.axis.numbers;
    this.signed = fits(x) && fits(y) && this.x !== this.y;
    this.onFront =
      this.front && this.signed
        ? paretoFront(this.visible, x, y, this.signX ? -1 : 1, this.signY ? -1 : 1)
        : [];
    this.order = [...this.visible].sort((a, b) => x.of(a) - x.of(b) || y.of(a) - y.of(b));
    this.at = -1;
    this.settle(x, y);
    this.drawFront(x, y);
    const without = this.chosen.length - has.length;
    this.said.textContent =
      `${many(this.visible.length, "point")} shown${this.onFront.length > 0 ? `, ${count(this.onFront.length)} on the front` : ""}` +
      `${without > 0 ? `, ${count(without)} without a value` : ""}. ` +
      "Arrow keys go from point to point in the chart, Enter or a click tells all of one.";
    if (!this.chart) {
      this.chart = chart(this.frame, "Points", 460, () => this.build());
      this.follow(this.chart.canvas);
    } else draw(this.chart);
  }

  // The controls as they are.
  settle(x, y) {
    const some = this.visible.length > 0;
    const positive = (q) => some && this.visible.every((p) => q.of(p) > 0) && !(q.axis && !q.axis.numbers);
    this.boxes.xBox.disabled = !positive(x);
    this.boxes.yBox.disabled = !positive(y);
    this.boxes.xBox.checked = this.logX && positive(x);
    this.boxes.yBox.checked = this.logY && positive(y);
    this.boxes.frontBox.disabled = !this.signed;
    this.boxes.frontBox.checked = this.front && this.signed;
    this.moreX.hidden = this.moreY.hidden = !(this.front && this.signed);
    this.moreX.querySelector("select").value = this.signX;
    this.moreY.querySelector("select").value = this.signY;
  }

  legend() {
    this.keys.hidden = this.by === 0;
    this.keys.replaceChildren(
      ...this.classes.map((kind) => {
        const on = !this.hidden.has(kind.name);
        const button = make(
          "button",
          { type: "button", "aria-pressed": on },
          glyph(kind),
          kind.name || "(empty)",
        );
        button.addEventListener("click", () => {
          if (!this.hidden.delete(kind.name)) this.hidden.add(kind.name);
          const index = this.classes.findIndex((k) => k.name === kind.name);
          this.draw();
          this.keys.querySelectorAll("button")[index]?.focus();
        });
        return make("li", {}, button);
      }),
    );
  }

  build() {
    const [x, y] = [this.quantities[this.x], this.quantities[this.y]];
    const range = (q) => extent(this.visible.map(q.of));
    const [sx, sy] = [new Scale(x, ...range(x)), new Scale(y, ...range(y))];
    // The theme may be another since the points were drawn.
    const kinds = classesOf(this.by === 0 ? null : axes[this.by - 1]);
    this.classes = this.classes.map((k) => ({ ...k, ...kinds.find((n) => n.name === k.name) }));
    this.legend();
    const spot = (p) => ({ x: x.of(p) / sx.size, y: y.of(p) / sy.size, point: p });
    const size = this.visible.length > 500 ? 3 : this.visible.length > 150 ? 4 : 5.5;
    const datasets = this.classes
      .filter((k) => !this.hidden.has(k.name))
      .map((k) => ({
        type: "scatter",
        label: k.name,
        data: k.points.map(spot),
        pointStyle: k.shape,
        backgroundColor: k.colour,
        borderColor: k.shape === "cross" ? k.colour : colour("back"),
        borderWidth: k.shape === "cross" ? 2 : 0.75,
        radius: k.shape === "circle" ? size : size + 1,
        hoverRadius: size + 4,
        hoverBorderColor: colour("ink"),
        hoverBorderWidth: 2,
      }));
    if (this.onFront.length > 0) datasets.push(this.line(spot, size));
    return {
      type: "scatter",
      data: { datasets },
      options: {
        layout: { padding: 8 },
        interaction: { mode: "nearest", intersect: true },
        onClick: (event, items, c) => {
          const item = items.find((i) => c.data.datasets[i.datasetIndex].data[i.index].point);
          if (item) choosePoint(c.data.datasets[item.datasetIndex].data[item.index].point, false);
        },
        scales: {
          x: sx.options(this.boxes.xBox.checked ? "logarithmic" : "linear"),
          y: sy.options(this.boxes.yBox.checked ? "logarithmic" : "linear"),
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            backgroundColor: "#1b1f24",
            borderColor: colour("soft"),
            borderWidth: 1,
            filter: (item, i) => i === 0,
            callbacks: {
              title: (items) => items.map((i) => `point ${i.raw.point.number}`),
              label: (item) => this.lines(item.raw.point),
            },
          },
        },
      },
    };
  }

  line(spot, size) {
    const around = this.onFront.length > 20 ? 2 : 4;
    return {
      type: "line",
      label: "Pareto front",
      data: this.onFront.map(spot),
      stepped: this.signX ? "after" : "before",
      borderColor: colour("ink"),
      borderWidth: 1.5,
      borderDash: [5, 4],
      fill: false,
      pointStyle: "circle",
      pointRadius: size + around,
      pointHoverRadius: size + around,
      pointBackgroundColor: "transparent",
      pointBorderColor: colour("ink"),
      pointBorderWidth: 1.5,
      order: 1,
    };
  }

  lines(p) {
    const [x, y] = [this.quantities[this.x], this.quantities[this.y]];
    const texts = axes.map((axis) => `${axis.name}: ${short(briefOf(axis, p), 48)}`);
    const own = [y, x]
      .filter((q) => !q.axis && q !== numberQuantity)
      .map((q) => `${titled(q.name)}: ${shown(q.name, q.of(p))}`);
    return [...own, ...texts, ...(p.rows.length > 1 ? [`mean of ${p.rows.length} repeats`] : [])];
  }

  // Arrows, Home and End move along the points by what is across.
  follow(canvas) {
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-describedby", "chart-said");
    canvas.addEventListener("keydown", (event) => {
      const last = this.order.length - 1;
      const step = {
        ArrowRight: 1,
        ArrowDown: 1,
        ArrowLeft: -1,
        ArrowUp: -1,
        Home: -Infinity,
        End: Infinity,
      }[event.key];
      if (event.key === "Enter" && this.at >= 0) choosePoint(this.order[this.at], false);
      if (step === undefined || last < 0) return;
      event.preventDefault();
      this.at = Math.max(0, Math.min(last, this.at + step));
      this.mark(this.order[this.at]);
    });
  }

  mark(point) {
    const c = this.chart.drawn;
    const active = c.data.datasets.flatMap((dataset, datasetIndex) => {
      const index = dataset.data.findIndex((d) => d.point === point);
      return index < 0 || dataset.type === "line" ? [] : [{ datasetIndex, index }];
    });
    c.setActiveElements(active);
    const element = c.getDatasetMeta(active[0].datasetIndex).data[active[0].index];
    c.tooltip.setActiveElements(active, { x: element.x, y: element.y });
    c.update("none");
    this.said.textContent = `Point ${point.number}. ${this.lines(point).join(", ")}.`;
  }

  drawFront(x, y) {
    at("front").hidden = this.onFront.length === 0;
    if (this.onFront.length === 0) return;
    const column = (q) => (q.axis ? [] : [columnOf(q)]);
    const columns = [numberColumn, ...axisColumns, ...column(x), ...column(y)];
    if (this.frontTable) {
      this.frontTable.setColumns(columns);
      this.frontTable.setRows(this.onFront);
      return;
    }
    at("front").append(make("h3", {}, "On the Pareto front"));
    this.frontTable = new Table(at("front"), {
      id: "table-front",
      caption: "On the Pareto front",
      columns,
      rows: this.onFront,
      filter: false,
    });
  }
}
