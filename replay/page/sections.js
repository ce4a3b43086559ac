// The sections but ranks, each from the report to its place in page.html.

// What kind of time a cause of the critical path is; the same colours as for ranks.
const kCauses = {
  "device computation": "compute",
  "host operations": "host",
  memory: "memory",
  delays: "plain",
  "late starts": "idle",
  drain: "idle",
};
const causeColour = (name) => kCauses[name] ?? "communication";
const collectiveName = (c) =>
  `${c.kind}${c.group ? ` on ${c.group}` : c.kind === "send_recv" ? "" : " on all"}`;
function header(report) {
  at("version").textContent = report.version ?? "";
  // As they are in the report, but for these.
  const own = {
    cluster: report.cluster || "none",
    fabric: report.fabric || "none",
    compute: list((report.compute || undefined)?.split(",")).join(", "),
  };
  facts(
    kShown.Report.map((c) => {
      const value = report[c.of];
      const some = !c.any || number(value) > 0;
      return [c.title, own[c.of] ?? (some && (kWrites[c.unit]?.(c.digits)(value) ?? value))];
    }),
  );
}

function bound(report) {
  at("bound-text").textContent = report.bound || "Nothing is known of what bounds the run.";
  at("legend").append(
    ...kindsOf(list(report.rank)).map((part) => make("li", {}, make("span", { class: `swatch ${part.colour}` }), part.name)),
  );
  const ranks = list(report.rank);
  const whole = number(report.makespan_ps) * ranks.length;
  if (whole === 0) return;
  const shares = kindsOf(ranks).map((part) => ({
    ...part,
    share: ranks.reduce((sum, r) => sum + part.of(r), 0) / whole,
  }));
  const said = shares.map((s) => `${s.name} ${percent(s.share)}`).join(", ");
  const bar = make("div", { class: "stack", role: "img", "aria-label": said });
  for (const s of shares) {
    const piece = make("span", { class: s.colour, title: `${s.name}: ${percent(s.share)}` });
    piece.style.width = `${100 * s.share}%`;
    if (s.share > 0) bar.append(piece);
  }
  at("bound-mean").append(bar, make("p", { class: "note" }, `Mean over ranks, of the makespan: ${said}.`));
}

function shares(id, heading, rows, first, colourOf) {
  if (rows.length === 0) return;
  const host = at(id);
  host.append(make("h3", {}, heading));
  new Table(host, {
    id: `table-${id}`,
    caption: `Critical path: ${heading}`,
    rows,
    limit: 8,
    columns: columnsOf("PathShare", {
      own: { name: { title: first }, time_ps: { colour: (x) => colourOf(x.name) } },
    }),
  });
}

function path(report) {
  const p = report.critical_path;
  if (!p) return void at("path-cause").append(empty("It was not asked for."));
  bars(
    at("path-cause"),
    "What takes the time on the critical path",
    list(p.cause).map((x) => ({ name: x.name ?? "", ps: number(x.time_ps), colour: causeColour(x.name) })),
  );
  shares("path-cause", `Causes, of ${count(p.stretches)} stretches`, list(p.cause), "Cause", causeColour);
  shares("path-lane", "Lanes", list(p.lane), "Lane", () => "plain");
  shares("path-rank", "Ranks", list(p.rank), "Rank", () => "plain");
  shares("path-operator", "Operators", list(p.operator), "Operator", () => "plain");
  shares("path-collective", "Collectives", list(p.collective), "Collective", () => "communication");
  shares("path-link", "Links", list(p.link), "Link", () => "communication");
  sensitivities(list(p.sensitivity));
  stretches(list(p.longest));
}

function sensitivities(rows) {
  if (rows.length === 0) return;
  at("path-sensitivity").append(make("h3", {}, "What 1 % would give, at most"));
  const measured = rows.some((x) => x.measured);
  new Table(at("path-sensitivity"), {
    id: "table-path-sensitivity",
    caption: "What 1 % would give",
    rows,
    columns: columnsOf("Sensitivity", {
      without: measured ? [] : ["measured"],
      own: {
        measured_ps: {
          of: (x) => (x.measured ? x.measured_ps : ""),
          as: (v) => (v === "" ? "-" : time(v)),
        },
      },
    }),
  });
}

function stretches(rows) {
  if (rows.length === 0) return;
  at("path-longest").append(make("h3", {}, "The longest stretches"));
  new Table(at("path-longest"), {
    id: "table-path-longest",
    caption: "The longest stretches",
    rows,
    columns: columnsOf("PathStretch", {
      more: [
        [
          20,
          {
            title: "Time",
            of: (x) => number(x.end_ps) - number(x.begin_ps),
            as: time,
            share: true,
            colour: () => "plain",
          },
        ],
        [
          40,
          {
            title: "What",
            kind: "text name",
            of: (x) => x.name || (x.collective ? collectiveName({ kind: x.collective, group: x.group }) : ""),
          },
        ],
      ],
    }),
  });
}

function timelineOf(report) {
  const shown = new Set(list(report.activity).map((row) => number(row.rank)));
  if (!timeline(at("timeline-body"), "What lanes did over time", report, number(report.makespan_ps)))
    return void at("timeline").remove();
  const all = list(report.rank).length;
  at("timeline-text").textContent =
    `The busiest lanes of ${shown.size === all ? "all" : `${shown.size} of ${count(all)}`} ranks. The darker, the busier. All of it is in the file that replay --timeline writes.`;
  timelineLegend(at("timeline-body"));
}

function kernels(report) {
  const rows = list(report.kernel);
  if (rows.length === 0) return void at("kernels").remove();
  const busy = number(report.device_busy_share);
  at("kernels-text").textContent =
    `Devices are busy for ${percent(busy)} of the time: with computation or communication. Kernels occupy them for ${percent(rows.reduce((sum, k) => sum + number(k.of_device), 0))}.`;
  const mean = [
    40,
    { title: "Mean", of: (k) => number(k.time_ps) / Math.max(1, number(k.count)), as: time },
  ];
  new Table(at("kernels-body"), {
    id: "table-kernels",
    caption: "Kernels of devices",
    rows,
    columns: columnsOf("KernelReport", { more: [mean] }),
  });
}

function overlap(report) {
  const rows = list(report.overlap);
  const sum = (field) => rows.reduce((all, o) => all + number(o[field]), 0);
  if (sum("time_ps") === 0) return void at("overlap").remove();
  at("overlap-text").textContent =
    `Computation of the same rank hides ${percent(sum("hidden_ps") / sum("time_ps"))} of the communication.`;
  new Table(at("overlap-body"), {
    id: "table-overlap",
    caption: "Communication that computation hides",
    rows,
    columns: columnsOf("OverlapReport"),
  });
}

// Sums over the groups of a kind and a dimension of the split, the longest first; times are means of a group.
function byDimension(rows) {
  const sums = new Map();
  for (const c of rows) {
    const key = `${c.kind}\n${c.dimension ?? ""}`;
    const sum = sums.get(key) ?? { kind: c.kind, dimension: c.dimension, groups: 0, count: 0, bytes: 0, ps: 0, wait: 0 };
    sum.groups += 1;
    sum.count += number(c.count);
    sum.bytes += number(c.bytes);
    sum.ps += number(c.time_ps);
    sum.wait += number(c.wait_ps);
    sums.set(key, sum);
  }
  return longest([...sums.values()], (sum) => sum.ps / sum.groups);
}

function dimensionTable(host, sums) {
  host.append(make("h3", {}, "By kind and dimension of the split"));
  const each = (title, of, colour) => ({
    title,
    of: (s) => of(s) / s.groups,
    as: time,
    share: colour !== undefined,
    colour: () => colour,
  });
  new Table(host, {
    id: "table-dimensions-of-split",
    caption: "Communication by kind and dimension of the split",
    rows: sums,
    columns: [
      { title: "Kind", of: (s) => s.kind, kind: "text" },
      { title: "Dimension", of: (s) => s.dimension ?? "", kind: "text" },
      { title: "Groups", of: (s) => s.groups, as: count },
      { title: "Count", of: (s) => s.count, as: count },
      { title: "Bytes", of: (s) => s.bytes, as: bytes },
      each("Time a group", (s) => s.ps, "communication"),
      each("Wait a group", (s) => s.wait, "idle"),
    ],
  });
}

function collectives(report) {
  const host = at("collectives-body");
  const rows = longest(list(report.collective), (c) => c.time_ps);
  if (rows.length === 0) return void host.append(empty("No communication."));
  const sums = byDimension(rows);
  if (sums.length < rows.length) dimensionTable(host, sums);
  const summed = sums.length < rows.length;
  const bar = (name, ps) => ({ name, ps, colour: "communication" });
  bars(
    host,
    summed ? "Time of a group, by kind and dimension" : "Time of collectives, the longest first",
    (summed
      ? sums.map((s) => bar(s.dimension ? `${s.kind} along ${s.dimension}` : s.kind, s.ps / s.groups))
      : rows.map((c) => bar(collectiveName(c), number(c.time_ps)))
    ).slice(0, 12),
  );
  if (summed) host.append(make("h3", {}, "Groups"));
  const algorithms = (c) =>
    list(c.chosen)
      .map((x) => `${x.algorithm} x ${count(x.count)}`)
      .join(", ") ||
    c.algorithm ||
    "";
  const recorded = rows.some((c) => number(c.recorded_count) > 0);
  new Table(host, {
    id: "table-collectives",
    caption: "Collectives",
    rows,
    columns: columnsOf("CollectiveReport", {
      without: recorded ? [] : ["recorded"],
      own: {
        simulated_to_recorded: { as: (v) => (number(v) === 0 ? "-" : number(v).toFixed(3)) },
        algorithm: { of: algorithms },
      },
    }),
  });
}

// Ranks for which others waited and that waited less themselves than those that do the same, by 1 % of the makespan: one
// that is last by the schedule of its stage, as its like are, is not late. Alike are ranks of as many nodes, or all where a
// rank is alone in that. As LateRanks() of the text.
function lateRanks(report) {
  const ranks = list(report.rank);
  const counts = new Map();
  for (const r of ranks) counts.set(r.nodes, [...(counts.get(r.nodes) ?? []), r]);
  const alone = [...counts.values()].some((like) => like.length === 1);
  const medians = new Map(
    (alone ? [[undefined, ranks]] : [...counts]).map(([nodes, like]) => {
      const waits = like.map((r) => number(r.waited_ps)).sort((a, b) => a - b);
      const half = waits.length / 2;
      return [nodes, (waits[Math.ceil(half) - 1] + waits[Math.floor(half)]) / 2];
    }),
  );
  const most = number(report.makespan_ps) / 100;
  return ranks.filter(
    (r) =>
      number(r.kept_waiting_ps) > 0 &&
      medians.get(alone ? undefined : r.nodes) - number(r.waited_ps) >= most,
  );
}

function stragglers(report) {
  const host = at("stragglers-body");
  const rows = longest(lateRanks(report), (r) => r.kept_waiting_ps);
  const waited = list(report.rank).some((r) => number(r.kept_waiting_ps) > 0);
  if (!waited) return void host.append(empty("No rank kept others waiting."));
  if (rows.length === 0) return void host.append(empty("Nobody is late: ranks that do the same waited alike."));
  bars(
    host,
    "What ranks kept others waiting",
    rows
      .slice(0, 12)
      .map((r) => ({ name: `rank ${number(r.rank)}`, ps: number(r.kept_waiting_ps), colour: "idle" })),
  );
  new Table(host, {
    id: "table-stragglers",
    caption: "Stragglers",
    rows,
    columns: columnsOf("RankReport stragglers"),
  });
}

function operators(report) {
  const host = at("operators-body");
  const rows = list(report.operator);
  if (rows.length === 0) return void host.append(empty("No operators."));
  bars(
    host,
    "Operators, the longest first",
    rows.slice(0, 12).map((x) => ({ name: x.name ?? "", ps: number(x.time_ps) })),
  );
  const mean = [
    40,
    { title: "Mean", of: (x) => number(x.time_ps) / Math.max(1, number(x.count)), as: time },
  ];
  const merged = [
    50,
    { title: "Stands for", of: (x) => (x.merged ? "several names" : "one name"), kind: "text" },
  ];
  new Table(host, {
    id: "table-operators",
    caption: "Operators",
    rows,
    columns: columnsOf("OperatorReport", { more: [mean, merged] }),
  });
  if (list(report.lane).length === 0) return;
  host.append(make("h3", {}, "Lanes, over all ranks"));
  new Table(host, {
    id: "table-lanes",
    caption: "Lanes",
    rows: report.lane,
    columns: columnsOf("LaneReport", { more: [mean] }),
  });
}

function compute(report) {
  const host = at("compute-body");
  const rows = list(report.time_source).filter((x) => number(x.nodes) + number(x.outside) > 0);
  if (rows.length === 0) return void host.append(empty("No computation."));
  bars(
      host,
      'Compute time by where it comes from',
      rows.map((x) => ({
                 name: x.time_source ?? '',
                 ps: number(x.time_ps),
                 error: number(x.error_ps),
                 colour: 'compute',
               })),
  );
  new Table(host, {
    id: 'table-compute',
    caption: 'Compute times by source',
    rows,
    columns: columnsOf('TimeSourceReport', {
      own: {error_ps: {as: (v) => (number(v) > 0 ? time(v) : 'not told')}},
    }),
  });
  if (list(report.repriced).length > 0) {
    host.append(make("h3", {}, `Recorded on ${report.repriced_from}, carried to this device`));
    new Table(host, {
      id: "table-repriced",
      caption: "Times carried to another device",
      rows: report.repriced,
      columns: columnsOf("RepricedFamily"),
    });
  }
  if (list(report.unanswered).length === 0) return;
  host.append(make("h3", {}, "Names that nothing answered; they take no time"));
  new Table(host, {
    id: "table-unanswered",
    caption: "Names that nothing answered",
    rows: report.unanswered,
    columns: columnsOf("Unanswered"),
  });
}

function warnings(report) {
  const host = at("warnings-body");
  if (list(report.assumption).length > 0) {
    host.append(make("h3", {}, "Assumed"));
    host.append(make("ul", { id: "list-assumptions" }, ...report.assumption.map((a) => make("li", {}, a))));
  }
  if (list(report.warning).length > 0) {
    host.append(
      make("ul", { class: "warnings", id: "list-warnings" }, ...report.warning.map((w) => make("li", {}, w))),
    );
  }
  if (list(report.repair).length > 0) {
    host.append(make("h3", {}, "Repairs"));
    new Table(host, {
      id: "table-repairs",
      caption: "Repairs",
      rows: report.repair,
      columns: columnsOf("Repair"),
    });
  }
  if (host.childElementCount === 0) host.append(empty("None."));
}

function inputs(report) {
  const host = at("inputs-body");
  if (list(report.input).length === 0) return void host.append(empty("None are named."));
  new Table(host, {
    id: "table-inputs",
    caption: "Inputs",
    rows: report.input,
    columns: columnsOf("InputFile"),
  });
}
