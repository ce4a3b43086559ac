// Links and what crossed them.
const kPoints = 400; // of a series in a chart
const kSparks = 60; // of one in a table

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;
const largest = (values) => Math.max(...values);

// Dashes of the lines of what is counted by bucket, in the order of kShown.
const kDashes = [[], [8, 3], [2, 2], [8, 3, 2, 3], [12, 4]];

// At most `most` values of `series`, each of neighbours that `join` makes one.
function thin(series, most, join) {
  const each = Math.max(1, Math.ceil(series.length / most));
  const out = [];
  for (let i = 0; i < series.length; i += each) {
    const part = series.slice(i, i + each).map(number);
    out.push(join(part));
  }
  return { values: out, each };
}

function spark(series) {
  const { values } = thin(series, kSparks, mean);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  for (const [name, value] of [
    ["viewBox", "0 0 120 20"],
    ["width", 120],
    ["height", 20],
    ["aria-hidden", "true"],
  ])
    svg.setAttribute(name, value);
  line.setAttribute(
    "points",
    values
      .map(
        (v, i) =>
          `${((120 * i) / Math.max(1, values.length - 1)).toFixed(1)},${(19 - 18 * Math.min(1, v)).toFixed(1)}`,
      )
      .join(" "),
  );
  svg.append(line);
  return svg;
}

function series(host, report, links) {
  const bucket = number(report.link_bucket_ps);
  const box = make("select", {}, ...links.map((l, i) => make("option", { value: i }, l.name ?? "")));
  host.append(make("div", { class: "controls" }, make("label", {}, "Link over time", box)));
  const x = timeAxis(bucket * Math.max(...links.map((l) => l.series.length)), "time");
  const entry = chart(host, "What a link carried over time", 240, () => {
    const link = links[Number(box.value)];
    const shares = thin(link.series, kPoints, mean),
      queued = thin(list(link.queued), kPoints, largest);
    const met = kShown["LinkReport series"]
      .map((c, i) => ({ ...c, dashes: kDashes[i % kDashes.length] }))
      .filter((c) => list(link[c.of]).length > 0);
    const times = met.filter((c) => c.unit === "TIME"),
      counts = met.filter((c) => c.unit !== "TIME");
    const queues = queued.values.some((v) => v > 0);
    const points = (s, f) =>
      s.values.map((v, i) => ({
        x: (Math.min((i + 0.5) * s.each, link.series.length) * bucket) / x.scale,
        y: f(v),
      }));
    const line = { pointRadius: 0, borderWidth: 1.5, stepped: "middle" };
    return {
      type: "line",
      data: {
        datasets: [
          {
            ...line,
            label: "share of bandwidth, %",
            data: points(shares, (v) => 100 * v),
            borderColor: colour("communication"),
            backgroundColor: `${colour("communication")}33`,
            fill: true,
          },
          ...(queues
            ? [
                {
                  ...line,
                  label: "bytes that wait",
                  yAxisID: "queue",
                  data: points(queued, (v) => v),
                  borderColor: colour("plain"),
                },
              ]
            : []),
          ...times.map((c) => ({
            ...line,
            label: c.title,
            data: points(thin(link[c.of], kPoints, mean), (v) => (100 * v) / bucket),
            borderColor: colour("warn"),
          })),
          ...counts.map((c) => ({
            ...line,
            label: c.title,
            yAxisID: "count",
            data: points(thin(link[c.of], kPoints, sum), (v) => v),
            borderColor: colour("memory"),
            borderDash: c.dashes,
          })),
        ],
      },
      options: {
        scales: {
          x: { ...x, type: "linear" },
          y: { min: 0, max: 100, title: { display: true, text: "%" } },
          ...(queues
            ? {
                queue: {
                  position: "right",
                  min: 0,
                  grid: { display: false },
                  title: { display: true, text: "bytes" },
                },
              }
            : {}),
          ...(counts.length > 0
            ? {
                count: {
                  position: "right",
                  min: 0,
                  grid: { display: false },
                  title: { display: true, text: "packets, pauses" },
                },
              }
            : {}),
        },
        plugins: { legend: { position: "top", align: "start" } },
      },
    };
  });
  box.addEventListener("change", () => draw(entry));
  const { each } = thin(links[0].series, kPoints, mean);
  if (each > 1)
    host.append(
      make(
        "p",
        { class: "note" },
        `Each point: ${each} buckets of ${time(bucket)}, the mean share, the most that waited, the sum of what packets met.`,
      ),
    );
}

function linkTable(host, report, rows) {
  const packets = report.packet !== undefined;
  const over = rows.some((l) => list(l.series).length > 0);
  new Table(host, {
    id: "table-links",
    caption: "Links",
    rows,
    columns: columnsOf("LinkReport", {
      rows,
      without: packets ? [] : ["packets"],
      more: over
        ? [[75, { title: "Over time", of: (l) => l.utilization, cell: (l) => spark(list(l.series)) }]]
        : [],
    }),
  });
}

function network(host, report) {
  const table = (id, heading, rows, columns, limit) => {
    if (list(rows).length === 0) return;
    host.append(make("h3", {}, heading));
    new Table(host, { id, caption: heading, rows, columns, limit, filter: limit === undefined });
  };
  table(
    "table-dimensions",
    "Dimensions of the topology",
    report.dimension,
    columnsOf("DimensionReport"),
  );
  table(
    "table-packets",
    `Packets, transport ${report.packet?.transport ?? ""}`,
    Object.entries(report.packet ?? {}).filter(([name]) => name !== "transport"),
    [
      { title: "What", of: (x) => x[0].replaceAll("_", " "), kind: "text name" },
      { title: "How many", of: (x) => x[1], as: count },
    ],
    20,
  );
  const most = (f) =>
    number(f.most_bytes) > 1e18
      ? "above 1e9"
      : `up to ${number(f.most_bytes).toExponential(0).replace("+", "")}`;
  table(
    "table-flows",
    "Flows by size",
    report.flow_time,
    columnsOf("FlowReport", { more: [[10, { title: "Bytes", of: most, kind: "text" }]] }),
  );
}

function links(report) {
  const host = at("links-body");
  const rows = list(report.link);
  if (rows.length === 0)
    host.append(
      empty(
        report.fabric
          ? `The fabric ${report.fabric} does not follow links, or nothing crossed one.`
          : "Nothing crossed a fabric.",
      ),
    );
  else {
    host.append(
      make(
        "p",
        { class: "note" },
        `The ${count(rows.length)} busiest of ${count(report.links_used)} directions of links that carried anything.`,
      ),
    );
    const over = rows.filter((l) => list(l.series).length > 0);
    if (over.length > 0) series(host, report, over);
    linkTable(host, report, rows);
  }
  network(host, report);
}
