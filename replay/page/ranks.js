// Ranks: what each spent the makespan on.
const kParts = [
  { name: "compute", colour: "compute", of: (r) => number(r.compute_busy_ps) },
  { name: "exposed communication", colour: "communication", of: (r) => number(r.exposed_comm_ps) },
  {
    name: "host and memory operations",
    colour: "host-memory",
    of: (r) =>
      Math.max(
        0,
        number(r.end_ps) - number(r.compute_busy_ps) - number(r.exposed_comm_ps) - number(r.idle_ps),
      ),
  },
  { name: "idle", colour: "idle", of: (r) => number(r.idle_ps) },
  { name: "ended", colour: "ended", of: (r) => Math.max(0, number(r.bubble_ps) - number(r.idle_ps)) },
];

// The parts; what is neither computation nor communication has the name and the colour of its kind where all of it is of
// one kind.
function kindsOf(ranks) {
  const any = (field) => ranks.some((r) => number(r[field]) > 0);
  const [host, memory] = [any("host_busy_ps"), any("memory_busy_ps")];
  const one = host === memory ? {} : { name: host ? "host operations" : "memory operations", colour: host ? "host" : "memory" };
  return kParts.map((part) => (part.colour === "host-memory" ? { ...part, ...one } : part));
}

const kMostBars = 256;
const kOrders = [
  ["rank", (r) => number(r.rank)],
  ["end, the last first", (r) => -number(r.end_ps)],
  ["compute, the most first", (r) => -number(r.compute_busy_ps)],
  ["exposed communication, the most first", (r) => -number(r.exposed_comm_ps)],
  ["bubble, the most first", (r) => -number(r.bubble_ps)],
  ["kept others waiting, the most first", (r) => -number(r.kept_waiting_ps)],
];

// "0-7,16" as a test of ranks; null where it cannot be read.
function ranksOf(words) {
  if (words.trim() === "") return () => true;
  const ranges = words.split(",").map((part) => /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part));
  if (ranges.includes(null)) return null;
  return (rank) => ranges.some((m) => rank >= Number(m[1]) && rank <= Number(m[2] ?? m[1]));
}

class Ranks {
  constructor(report) {
    this.all = list(report.rank);
    this.makespan = number(report.makespan_ps);
    this.order = 0;
    this.from = 0;
    this.size = 0; // 0: all
    this.test = () => true;
    const host = at("ranks-chart");
    if (this.all.length === 0) return void host.append(empty("No ranks."));
    this.parts = kindsOf(this.all);
    this.axis = timeAxis(this.makespan, "time");
    this.controls(host);
    this.arrange();
    this.chart = chart(host, "What each rank spent the makespan on", 340, () => this.build());
    this.table = new Table(at("ranks-table"), {
      id: "table-ranks",
      caption: "Ranks",
      columns: columnsOf("RankReport", { rows: this.rows }),
      rows: this.rows,
      limit: 16,
      filter: false,
    });
    this.say();
  }

  controls(host) {
    const sizes = [0, 256, 64, 16].filter((n) => n < this.all.length);
    const [order] = select(
      "Order",
      kOrders.map((o) => o[0]),
      (i) => this.change({ order: i, from: 0 }),
    );
    const [zoom, zoomBox] = select(
      "Show",
      sizes.map((n) => (n === 0 ? "all" : `${n} at a time`)),
      (i) => this.change({ size: sizes[i], from: 0 }),
    );
    this.sizes = sizes;
    this.zoomBox = zoomBox;
    this.words = make("input", { type: "text", placeholder: "0-7,16", "aria-describedby": "ranks-said" });
    this.words.addEventListener("input", () => this.filter());
    this.back = make("button", { type: "button" }, "Previous");
    this.forward = make("button", { type: "button" }, "Next");
    this.back.addEventListener("click", () => this.change({ from: Math.max(0, this.from - this.size) }));
    this.forward.addEventListener("click", () => this.change({ from: this.from + this.size }));
    this.said = make("p", { class: "note", id: "ranks-said", "aria-live": "polite" });
    host.append(
      make(
        "div",
        { class: "controls" },
        order,
        zoom,
        make("label", {}, "Ranks", this.words),
        this.back,
        this.forward,
      ),
      this.said,
    );
  }

  filter() {
    const test = ranksOf(this.words.value);
    this.words.setAttribute("aria-invalid", test === null);
    if (test === null) return void (this.said.textContent = "Ranks are numbers and ranges: 0-7,16");
    this.change({ test, from: 0 });
  }

  change(what) {
    Object.assign(this, what);
    this.arrange();
    draw(this.chart);
    this.table.setRows(this.rows);
    this.say();
  }

  // What is shown: `shown` ranks in order, `bins` of as many neighbours as leave at most kMostBars bars.
  arrange() {
    const key = kOrders[this.order][1];
    this.rows = this.all.filter((r) => this.test(number(r.rank))).sort((a, b) => key(a) - key(b));
    this.shown = this.size === 0 ? this.rows : this.rows.slice(this.from, this.from + this.size);
    this.each = Math.max(1, Math.ceil(this.shown.length / kMostBars));
    this.bins = [];
    for (let i = 0; i < this.shown.length; i += this.each) this.bins.push(this.shown.slice(i, i + this.each));
  }

  say() {
    this.zoomBox.parentElement.hidden = this.sizes.length < 2;
    this.zoomBox.value = this.sizes.indexOf(this.size);
    this.back.hidden = this.forward.hidden = this.size === 0;
    this.back.disabled = this.from === 0;
    this.forward.disabled = this.from + this.size >= this.rows.length;
    const of = this.rows.length === this.all.length ? "" : ` (of ${count(this.all.length)})`;
    const part =
      this.size === 0
        ? `${count(this.rows.length)} ranks${of}`
        : `${count(this.from + 1)} to ${count(this.from + this.shown.length)} of ${count(this.rows.length)} ranks${of}`;
    this.said.textContent =
      `${part}, ` +
      (this.each === 1
        ? "one bar each."
        : `each bar the mean of ${this.each}; a click on one shows those around it.`);
  }

  name(bin) {
    const ranks = bin.map((r) => number(r.rank));
    if (ranks.length === 1) return `${ranks[0]}`;
    const run = ranks.every((r, i) => i === 0 || r === ranks[i - 1] + 1);
    return run ? `${ranks[0]}-${ranks[ranks.length - 1]}` : ranks.join(", ");
  }

  zoom(index) {
    if (this.each === 1) return;
    const size = this.sizes.find((n) => n > 0 && n < this.shown.length) ?? 0;
    const first = this.from + index * this.each;
    this.change({ size, from: Math.max(0, Math.min(first - size / 2, this.rows.length - size)) });
  }

  build() {
    const dense = this.bins.length > 48;
    const mean = (bin, part) => bin.reduce((sum, r) => sum + part.of(r), 0) / bin.length;
    return {
      type: "bar",
      data: {
        labels: this.bins.map((bin) => this.name(bin)),
        datasets: this.parts.map((part) => ({
          label: part.name,
          backgroundColor: fill(part.colour),
          maxBarThickness: 60,
          data: this.bins.map((bin) => mean(bin, part) / this.axis.scale),
          categoryPercentage: dense ? 1 : 0.85,
          barPercentage: dense ? 1 : 0.95,
        })),
      },
      options: {
        onClick: (event, items) => items.length > 0 && this.zoom(items[0].index),
        interaction: { mode: "index", intersect: false },
        scales: {
          x: {
            stacked: true,
            grid: { display: false },
            title: { display: true, text: "rank" },
            ticks: { maxRotation: 0, callback: (v, i) => number(this.bins[i][0].rank) },
          },
          y: {
            ...this.axis,
            stacked: true,
            max: this.makespan > 0 ? this.makespan / this.axis.scale : undefined,
          },
        },
        plugins: {
          legend: { position: "top", align: "start" },
          tooltip: {
            callbacks: {
              title: (items) => `rank ${this.name(this.bins[items[0].dataIndex])}`,
              label: (item) =>
                `${item.dataset.label}: ${time(mean(this.bins[item.dataIndex], this.parts[item.datasetIndex]))}`,
            },
          },
        },
      },
    };
  }
}
