// What lanes did over time: one strip for each, as dark in each bucket as the lane was busy.
const kActivity = { compute: "compute", communication: "communication", memory: "memory", host: "host" };
const kStrip = 14; // pixels

// [rank, lane, rows of its kinds]
function lanesOf(report) {
  const lanes = new Map();
  for (const row of list(report.activity)) {
    const key = `${number(row.rank)} ${row.lane}`;
    if (!lanes.has(key)) lanes.set(key, [number(row.rank), row.lane, []]);
    lanes.get(key)[2].push(row);
  }
  return [...lanes.values()];
}

// The mean digit of `busy` from one place to another, both in digits.
function meanLevel(busy, from, to) {
  let sum = 0;
  for (let i = Math.floor(from); i < Math.min(to, busy.length); ++i) {
    sum += Number(busy[i]) * (Math.min(to, i + 1) - Math.max(from, i));
  }
  return sum / (to - from);
}

function paintStrip(canvas, rows, bucket, until) {
  const width = canvas.clientWidth;
  if (width === 0) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = kStrip * ratio;
  const brush = canvas.getContext("2d");
  const buckets = until / bucket / canvas.width; // of a pixel
  for (const row of rows) {
    brush.fillStyle = colour(kActivity[row.kind] ?? "idle");
    for (let x = 0; x < canvas.width; ++x) {
      const level = meanLevel(row.busy, x * buckets, (x + 1) * buckets);
      if (level === 0) continue;
      brush.globalAlpha = 0.15 + (0.85 * level) / 9;
      brush.fillRect(x, 0, 1, canvas.height);
    }
  }
}

// Strips of `report`, from 0 to `until` picoseconds.
function timeline(host, label, report, until) {
  const lanes = lanesOf(report);
  if (lanes.length === 0 || until <= 0) return false;
  const bucket = number(report.activity_bucket_ps);
  const grid = make("div", { class: "timeline", role: "img", "aria-label": label });
  const strips = lanes.map(([rank, lane, rows], i) => {
    const first = i === 0 || lanes[i - 1][0] !== rank;
    const canvas = make("canvas");
    const kinds = rows.map((row) => row.kind).join(", ");
    canvas.title = `rank ${rank}, ${lane}: ${kinds}`;
    grid.append(make("span", { class: first ? "rank" : undefined }, first ? `rank ${rank}` : ""));
    grid.append(make("span", { class: "lane" }, lane), canvas);
    return [canvas, rows];
  });
  const ends = [0, 1, 2, 3, 4].map((i) => make("span", {}, time((until * i) / 4)));
  grid.append(make("span"), make("span"), make("span", { class: "scale" }, ...ends));
  host.append(grid);
  const entry = { paint: () => strips.forEach(([canvas, rows]) => paintStrip(canvas, rows, bucket, until)) };
  charts.push(entry);
  addEventListener("resize", entry.paint);
  entry.paint();
  return true;
}

// The colours of kinds.
function timelineLegend(host) {
  const kinds = Object.entries(kActivity);
  host.append(
    make(
      "ul",
      { class: "legend" },
      ...kinds.map(([kind, name]) => make("li", {}, make("span", { class: `swatch ${name}` }), kind)),
    ),
  );
}
