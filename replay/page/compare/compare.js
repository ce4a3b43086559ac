// Two runs, A and B, on one page: what `compare` tells, and both timelines.
const both = JSON.parse(at("comparison").textContent);
const comparison = both.comparison;
const sides = [both.a ?? {}, both.b ?? {}];
const kMostRanks = 16;
const kNames = ["A", "B"];

// A measure's values, as its name says.
function measureOf(name) {
  if (name.endsWith("_ps")) return time;
  if (name.endsWith("_bytes_per_s")) return (v) => `${digits(number(v) / 1e9)} GB/s`;
  if (name.endsWith("bytes")) return bytes;
  if (name.endsWith("microjoules")) return joules;
  return (v) => (Number.isInteger(number(v)) ? count(number(v)) : tick(number(v)));
}
const valueOf = (measure, side) => measure?.[side] ?? measure?.[`real_${side}`];
const signed = (as, v) => (number(v) < 0 ? `-${as(-number(v))}` : number(v) > 0 ? `+${as(number(v))}` : as(0));
const percentOf = (v) => (v === undefined ? "" : `${number(v) > 0 ? "+" : ""}${number(v).toFixed(2)} %`);
const titleOf = (name) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`.replaceAll("_", " ");

function header() {
  at("version").textContent = comparison.version ?? "";
  facts(
    sides.flatMap((side, i) => [
      [kNames[i], comparison[kNames[i].toLowerCase()]?.path],
      [`${kNames[i]} is`, comparison[kNames[i].toLowerCase()]?.about],
      [`Makespan of ${kNames[i]}`, number(side.makespan_ps) > 0 && time(side.makespan_ps)],
    ]),
  );
}

function answer() {
  const [a, b] = sides.map((side) => number(side.makespan_ps));
  const failures = list(comparison.failure);
  at("answer-text").textContent = comparison.identical
    ? "No differences."
    : a > 0 && b > 0
      ? `B takes ${time(b)}, A ${time(a)}: ${signed(time, b - a)}, ${percentOf((100 * (b - a)) / a)}.`
      : "They differ.";
  at("answer-bound").textContent = sides
    .map((side, i) => (side.bound ? `${kNames[i]}: ${side.bound}.` : ""))
    .filter((says) => says)
    .join(" ");
  if (comparison.limit)
    at("answer-body").append(
      make("p", {}, failures.length > 0 ? `Beyond the limit of ${comparison.limit}:` : `Within the limit of ${comparison.limit}.`),
      make("ul", { class: "warnings" }, ...failures.map((f) => make("li", {}, `${f.subject}: ${percentOf(f.percent)}`))),
    );
}

function timelines() {
  const until = Math.max(...sides.map((side) => number(side.makespan_ps)));
  const host = at("timelines-body");
  let any = false;
  sides.forEach((side, i) => {
    if (list(side.activity).length === 0) return;
    host.append(make("h3", {}, `${kNames[i]}: ${comparison[kNames[i].toLowerCase()]?.path ?? ""}`));
    any = timeline(host, `What lanes of ${kNames[i]} did over time`, side, until) || any;
  });
  if (any) return timelineLegend(host);
  host.append(empty("Neither has times of its lanes: of a replay write the report as JSON (--report FILE.json)."));
}

// The ranks that differ most in their end, in order; one that a side lacks differs by its end.
function chosenRanks() {
  const ends = sides.map((side) => new Map(list(side.rank).map((r) => [number(r.rank), r])));
  const all = [...new Set(ends.flatMap((side) => [...side.keys()]))];
  const difference = (rank) => Math.abs(number(ends[1].get(rank)?.end_ps) - number(ends[0].get(rank)?.end_ps));
  const most = [...all].sort((x, y) => difference(y) - difference(x) || x - y).slice(0, kMostRanks);
  return [most.sort((x, y) => x - y), ends, all.length];
}

function spent() {
  const [ranks, ends, all] = chosenRanks();
  if (ranks.length === 0) return void at("spent").remove();
  const rows = ranks
    .flatMap((rank) => kNames.map((name, i) => [`${name} rank ${rank}`, ends[i].get(rank)]))
    .filter(([, r]) => r !== undefined);
  const most = Math.max(...sides.map((side) => number(side.makespan_ps)));
  const { scale, ...axis } = timeAxis(most, "time");
  if (all > ranks.length)
    at("spent-body").append(make("p", { class: "note" }, `The ${ranks.length} of ${count(all)} ranks whose ends differ most.`));
  chart(at("spent-body"), "What ranks of A and B spent their time on", 80 + 20 * rows.length, () => ({
    type: "bar",
    data: {
      labels: rows.map(([name]) => name),
      datasets: kindsOf(sides.flatMap((side) => list(side.rank))).map((part) => ({
        label: part.name,
        data: rows.map(([, r]) => part.of(r) / scale),
        backgroundColor: fill(part.colour),
      })),
    },
    options: {
      indexAxis: "y",
      scales: { x: { ...axis, stacked: true }, y: { stacked: true, grid: { display: false }, ticks: { autoSkip: false } } },
      plugins: {
        legend: { position: "top", align: "start" },
        tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${time(c.raw * scale)}` } },
      },
    },
  }));
}

function settings() {
  const rows = list(comparison.setting);
  if (rows.length === 0) return void at("settings").remove();
  new Table(at("settings-body"), {
    id: "table-settings",
    caption: "Different from the start",
    rows,
    columns: [
      { title: "What", of: (t) => t.name ?? "", kind: "text" },
      { title: "A", of: (t) => t.a || "none", kind: "text name" },
      { title: "B", of: (t) => t.b || "none", kind: "text name" },
    ],
  });
}

function sectionTable(section) {
  const measure = (change) => list(change.measure).find((m) => m.name === section.by);
  const as = measureOf(section.by ?? "");
  const host = at("tables-body");
  host.append(make("h3", {}, `${titleOf(section.name)}: ${count(section.changed)} of ${count(Math.max(number(section.rows_a), number(section.rows_b)))} differ`));
  const side = (name) => ({
    title: `${titleOf((section.by ?? "").replace(/_ps$/, ""))} of ${name.toUpperCase()}`,
    of: (c) => valueOf(measure(c), name) ?? "",
    as: (v) => (v === "" ? "-" : as(v)),
  });
  new Table(host, {
    id: `table-${section.name.replaceAll(" ", "-")}`,
    caption: titleOf(section.name),
    rows: list(section.change),
    columns: [
      { title: titleOf(section.name), of: (c) => c.name ?? "", kind: "text name" },
      side("a"),
      side("b"),
      {
        title: "Change",
        of: (c) => number(measure(c)?.difference ?? measure(c)?.real_difference),
        as: (v) => signed(as, v),
      },
      { title: "%", of: (c) => measure(c)?.percent ?? "", as: (v) => (v === "" ? "-" : percentOf(v)) },
      { title: "Only in", of: (c) => (c.only_in ?? "").toUpperCase(), kind: "text" },
      {
        title: "Also",
        of: (c) => list(c.text).map((t) => `${t.name}: ${t.a || "none"} to ${t.b || "none"}`).join("; "),
        kind: "text",
      },
    ].filter((column) => !["Only in", "Also"].includes(column.title) || list(section.change).some((c) => column.of(c) !== "")),
  });
}

function tables() {
  const changed = list(comparison.section).filter((section) => number(section.changed) > 0);
  if (changed.length === 0) return void at("tables").remove();
  changed.forEach(sectionTable);
  const same = list(comparison.section).filter((section) => number(section.changed) === 0);
  if (same.length > 0)
    at("tables-body").append(make("p", { class: "note" }, `The same in both: ${same.map((s) => s.name).join(", ")}.`));
}

function nodes() {
  const found = comparison.nodes;
  if (!found) return void at("nodes").remove();
  at("nodes-body").append(
    make(
      "p",
      {},
      `${count(found.paired)} in both, ${count(found.changed)} of them changed; ${count(found.only_a)} only in A, ${count(found.only_b)} only in B.`,
    ),
  );
  if (list(found.change).length === 0) return;
  new Table(at("nodes-body"), {
    id: "table-nodes",
    caption: "How nodes changed",
    rows: found.change,
    columns: [
      { title: "What changed", of: (c) => c.name ?? "", kind: "text" },
      { title: "Nodes", of: (c) => c.nodes, as: count },
      { title: "First", of: (c) => `rank ${number(c.first_rank)}, ${number(c.first_node)} ${c.first_name ?? ""}`, kind: "text name" },
      { title: "A", of: (c) => c.a ?? "", kind: "text" },
      { title: "B", of: (c) => c.b ?? "", kind: "text" },
    ],
  });
}

function notes() {
  if (list(comparison.note).length === 0) return void at("notes").remove();
  at("notes-body").append(make("ul", {}, ...comparison.note.map((says) => make("li", {}, says))));
}

begin();
header();
answer();
timelines();
spent();
settings();
tables();
nodes();
notes();
end();
