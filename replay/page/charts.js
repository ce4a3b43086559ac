// Charts, drawn by Chart.js in the colours of the style sheet, each beside a table of the same numbers.
const charts = [];

// The colour that a class of page.css stands for, in the present theme.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// What fills an area of that class: its colour, or stripes of both where the class is of two, "host-memory".
function fill(name) {
  if (!name.includes("-")) return colour(name);
  const [one, other] = name.split("-");
  const tile = make("canvas", { width: 8, height: 8 });
  const brush = tile.getContext("2d");
  brush.fillStyle = colour(one);
  brush.fillRect(0, 0, 8, 8);
  brush.strokeStyle = colour(other);
  brush.lineWidth = 3;
  for (const x of [-8, 0, 8]) {
    brush.moveTo(x - 2, 10);
    brush.lineTo(x + 10, -2);
  }
  brush.stroke();
  return brush.createPattern(tile, "repeat");
}

// `build` makes Chart.js's configuration; again when the theme changes. `height` [pixels] is with one row of a legend; what
// more rows of a narrow page take is added.
function chart(host, label, height, build) {
  const canvas = make("canvas", { role: "img", "aria-label": `${label}; the table has the same numbers` });
  const frame = make("div", { class: "chart" }, canvas);
  frame.style.height = `${height}px`;
  host.append(frame);
  const entry = { canvas, build, frame, height, drawn: null };
  charts.push(entry);
  draw(entry);
  addEventListener("resize", () => fit(entry));
  return entry;
}

function draw(entry) {
  if (entry.paint) return entry.paint();
  if (entry.drawn) entry.drawn.destroy();
  Chart.defaults.color = colour("ink");
  Chart.defaults.borderColor = colour("line");
  Chart.defaults.font.family = "system-ui, sans-serif";
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  entry.drawn = new Chart(entry.canvas, entry.build());
  fit(entry);
}

const kLegendRow = 32; // pixels
function fit(entry) {
  const legend = () => Math.max(0, (entry.drawn.legend?.options.display ? entry.drawn.legend.height : 0) - kLegendRow);
  entry.frame.style.height = `${entry.height}px`;
  entry.drawn.resize();
  // A legend has at most a part of the height, so that it may ask for more when it has more.
  for (let more = 0, asked = legend(); asked > more; more = asked, asked = legend()) {
    entry.frame.style.height = `${entry.height + asked}px`;
    entry.drawn.resize();
  }
}

const short = (name, most) =>
  name.length <= most ? name : `${name.slice(0, most / 2 - 1)}...${name.slice(2 - most / 2)}`;

// Ticks at round numbers of a unit that suits `most` picoseconds.
function timeAxis(most, title) {
  const units = [
    ["ps", 1],
    ["ns", 1e3],
    ["us", 1e6],
    ["ms", 1e9],
    ["s", 1e12],
  ];
  const [unit, size] = units.reduce((best, x) => (most >= x[1] ? x : best), units[0]);
  return {
    beginAtZero: true,
    scale: size,
    title: { display: true, text: `${title}, ${unit}` },
    ticks: { callback: tick, maxTicksLimit: 8 },
  };
}

// Whiskers of `errors` [picoseconds] around the ends of horizontal bars.
const whiskers = (errors, scale) => ({
  id: "whiskers",
  afterDatasetsDraw(c) {
    const {
      ctx,
      scales: { x },
    } = c;
    ctx.save();
    ctx.strokeStyle = colour("ink");
    ctx.lineWidth = 1.5;
    c.getDatasetMeta(0).data.forEach((bar, i) => {
      if (errors[i] <= 0) return;
      const value = c.data.datasets[0].data[i];
      const from = x.getPixelForValue(Math.max(0, value - errors[i] / scale));
      const to = x.getPixelForValue(value + errors[i] / scale);
      ctx.beginPath();
      for (const end of [from, to]) {
        ctx.moveTo(end, bar.y - 6);
        ctx.lineTo(end, bar.y + 6);
      }
      ctx.moveTo(from, bar.y);
      ctx.lineTo(to, bar.y);
      ctx.stroke();
    });
    ctx.restore();
  },
});

// Horizontal bars of times. rows: { name, ps, colour, error }, times in picoseconds.
function bars(host, label, rows) {
  if (rows.length === 0) return;
  const most = Math.max(...rows.map((row) => row.ps + (row.error ?? 0)));
  const x = timeAxis(most, "time");
  const errors = rows.map((row) => row.error ?? 0);
  chart(host, label, 70 + 26 * rows.length, () => ({
    type: "bar",
    data: {
      labels: rows.map((row) => short(row.name, host.clientWidth < 600 ? 16 : 36)),
      datasets: [
        {
          data: rows.map((row) => row.ps / x.scale),
          maxBarThickness: 18,
          backgroundColor: rows.map((row) => colour(row.colour ?? "plain")),
        },
      ],
    },
    options: {
      indexAxis: "y",
      scales: {
        x: { ...x, suggestedMax: most / x.scale },
        y: { grid: { display: false }, ticks: { autoSkip: false } },
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          callbacks: {
            title: (items) => rows[items[0].dataIndex].name,
            label: (item) => time(rows[item.dataIndex].ps),
          },
        },
      },
    },
    plugins: errors.some((e) => e > 0) ? [whiskers(errors, x.scale)] : [],
  }));
}
