// Fills the sections from the plan.
const plan = JSON.parse(at("plan").textContent);
const rows = list(plan.row);
const replayed = rows.filter((r) => number(r.time_ps) > 0);
const experts = rows.some((r) => number(r.ep) * number(r.etp) > 1);

// "1. TP 8, PP 4, DP 16": where the rows of charts differ.
function nameOf(row) {
  const sizes = ["tp", "cp", "pp", "vpp", "dp", "ep"].filter((k) => number(row[k]) > 1);
  const name = sizes.map((k) => `${k} ${row[k]}`).join(" ");
  return `${row.place}. ${name || "one rank"}, zero ${number(row.zero)}, mb ${row.micro_batch}`;
}

// Of a bar of a chart on `host`; tables have the whole names.
const labelOf = (host, row) => (host.clientWidth < 600 ? `${row.place}.` : nameOf(row));

function header() {
  at("version").textContent = plan.version ?? "";
  facts([
    ["Model", plan.model],
    ["Cluster", plan.cluster],
    ["Fabric", plan.fabric],
    ["Ranks", count(plan.ranks)],
    ["Tokens a step", count(number(plan.tokens))],
    ["Memory of a device", number(plan.device_memory_bytes) > 0 && bytes(plan.device_memory_bytes)],
    ["For tensors", number(plan.limit_bytes) > 0 && bytes(plan.limit_bytes)],
    ["Splits tried", count(plan.splits)],
    ["Splits that fit", count(plan.fitting)],
    ["Replayed", count(plan.replayed)],
    ["Closed form off, median", number(plan.replayed) > 0 && `${(100 * number(plan.off_median)).toFixed(2)} %`],
  ]);
}

function answer() {
  const best = rows[0];
  const says = at("answer-text");
  if (!best) {
    const lacks = plan.closest;
    says.textContent = `No split fits. The closest lacks ${bytes(plan.lacks_bytes)} on rank ${number(plan.lacks_rank)}, which holds ${bytes(lacks?.peak_memory_bytes)}.`;
    const helps = list(plan.help).map((h) =>
      make("li", {}, make("code", {}, h.change), `: ${bytes(h.peak_memory_bytes)}${h.fits ? ", which fits" : ""}`),
    );
    at("answer-options").append(make("pre", {}, ...breakable(lacks?.options ?? "")), make("ul", {}, ...helps));
    return;
  }
  const next = rows[1]?.why ? ` The next best is ${rows[1].why}.` : "";
  says.textContent = `${nameOf(best).slice(3)}: ${time(best.time_ps ?? best.estimate_ps)}, MFU ${percent(best.mfu)}, ${count(Math.round(number(best.tokens_per_s_per_device)))} tokens/s a device.${next}`;
  at("answer-options").append(make("pre", {}, ...breakable(best.options)));
}

// What is chosen by, in a table that fits a narrow page.
function choice() {
  const some = (field) => rows.some((r) => number(r[field]) > 0);
  const value = (title, field, as) => ({ title, of: (r) => number(r[field]), as: (v) => (v === 0 ? "-" : as(v)) });
  const columns = [
    { title: "#", of: (r) => r.place, as: plain },
    { title: "Split", of: (r) => nameOf(r).replace(/^\d+\. /, ""), kind: "text" },
    value("Time", "time_ps", time),
    value("Memory", "peak_memory_bytes", bytes),
  ];
  if (some("joules")) columns.push(value("Energy", "joules", (v) => joules(1e6 * v)));
  if (some("dollars")) columns.push(value("$ a step", "dollars", digits));
  if (some("kg_co2e")) columns.push(value("kg CO2e", "kg_co2e", digits));
  new Table(at("best-body"), { id: "table-choice", caption: "The best splits in short", rows, columns });
}

function best() {
  if (rows.length === 0) return void at("best").remove();
  choice();
  at("best-body").append(make("h3", {}, "All of each"));
  const known = (write) => ({ as: (v) => (number(v) === 0 ? "-" : write(v)) });
  const ofReplay = (field, write) => ({
    of: (r) => (number(r.time_ps) > 0 ? number(r[field]) : ""),
    as: (v) => (v === "" ? "-" : write(v)),
  });
  new Table(at("best-body"), {
    id: "table-best",
    caption: "The best splits",
    rows,
    columns: columnsOf("PlanRow", {
      rows,
      without: [...(experts ? [] : ["experts"]), ...(rows[0].others ? [] : ["others"]),
        ...(number(rows[0].joules) ? [] : ["energy"]), ...(number(rows[0].dollars) ? [] : ["cost"]),
        ...(number(rows[0].kg_co2e) ? [] : ["carbon"])],
      own: {
        time_ps: known(time),
        tokens_per_s: { as: (v) => count(Math.round(number(v))) },
        tokens_per_s_per_device: { as: (v) => count(Math.round(number(v))) },
        zero: { as: plain },
        off: ofReplay("off", (v) => `${v > 0 ? "+" : ""}${(100 * v).toFixed(2)} %`),
        bubble_share: ofReplay("bubble_share", percent),
        exposed_share: ofReplay("exposed_share", percent),
        joules: ofReplay("joules", (v) => real(v, 1)),
        dollars: ofReplay("dollars", (v) => real(v, 6)),
        kg_co2e: ofReplay("kg_co2e", (v) => real(v, 6)),
      },
    }),
  });
}

// A colour of its own for each part.
const kColours = {
  forward: "compute",
  backward: "second",
  recompute: "host",
  step: "memory",
  tensor: "communication",
  context: "fourth",
  expert: "third",
  weights: "fifth",
  gradients: "sixth",
  pipeline: "seventh",
  bubble: "idle",
  other: "ended",
};
const titleOf = (part) =>
  part === "bubble" || part === "other" || part === "recompute" || part === "forward" || part === "backward"
    ? part
    : part === "step"
      ? "optimizer"
      : `exposed: ${part}`;

function parts() {
  if (replayed.length === 0) return void at("parts").remove();
  const names = [...new Set(replayed.flatMap((r) => list(r.part).map((p) => p.name)))].filter((name) =>
    replayed.some((r) => list(r.part).some((p) => p.name === name && number(p.mean_ps) > 0)),
  );
  const of = (row, name) =>
    list(row.part)
      .filter((p) => p.name === name)
      .reduce((sum, p) => sum + number(p.mean_ps), 0);
  const most = Math.max(...replayed.map((r) => number(r.time_ps)));
  const { scale, ...axis } = timeAxis(most, "time of a step");
  chart(at("parts-body"), "Where the time of the best splits goes", 80 + 34 * replayed.length, () => ({
    type: "bar",
    data: {
      labels: replayed.map((r) => labelOf(at("parts-body"), r)),
      datasets: names.map((name) => ({
        label: titleOf(name),
        data: replayed.map((r) => of(r, name) / scale),
        backgroundColor: colour(kColours[name] ?? "communication"),
        borderColor: colour("back"),
        borderWidth: 1,
      })),
    },
    options: {
      indexAxis: "y",
      scales: { x: { ...axis, stacked: true }, y: { stacked: true } },
      plugins: {
        legend: { position: "bottom" },
        tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${time(c.raw * scale)}` } },
      },
    },
  }));
  new Table(at("parts-body"), {
    id: "table-parts",
    caption: "Parts of the time, means over ranks",
    rows: replayed,
    columns: [
      { title: "#", of: (r) => r.place, as: plain },
      { title: "Time", of: (r) => r.time_ps, as: time },
      ...names.map((name) => ({ title: titleOf(name), of: (r) => of(r, name), as: time })),
    ],
  });
}

function why() {
  const slower = rows.filter((r) => r.why);
  if (slower.length === 0) return void at("why").remove();
  at("why-body").append(
    make("ul", { id: "list-why" }, ...slower.map((r) => make("li", {}, make("strong", {}, nameOf(r)), `: ${r.why}`))),
  );
}

function memory() {
  if (rows.length === 0) return void at("memory").remove();
  const limit = number(plan.limit_bytes);
  const size = 2 ** 30;
  chart(at("memory-body"), "Peak memory of the best splits", 80 + 26 * rows.length, () => ({
    type: "bar",
    data: {
      labels: rows.map((r) => labelOf(at("memory-body"), r)),
      datasets: [
        {
          label: "peak memory of a rank",
          data: rows.map((r) => number(r.peak_memory_bytes) / size),
          backgroundColor: colour("compute"),
        },
      ],
    },
    options: {
      indexAxis: "y",
      scales: {
        x: {
          beginAtZero: true,
          max: limit > 0 ? limit / size : undefined,
          title: { display: true, text: limit > 0 ? `GiB; the axis ends at the limit` : "GiB" },
        },
      },
      plugins: { legend: { display: false } },
    },
  }));
}

function tried() {
  at("tried-text").textContent =
    `${count(plan.splits)} splits: ${count(plan.not_valid)} are not valid, ${count(plan.too_large)} do not fit, ${count(plan.fitting)} fit.`;
  new Table(at("tried-body"), {
    id: "table-axes",
    caption: "Values of each field",
    rows: list(plan.axis),
    columns: columnsOf("PlanAxis"),
    limit: 40,
  });
  if (list(plan.reason).length > 0) {
    new Table(at("tried-body"), {
      id: "table-reasons",
      caption: "Why splits are not valid",
      rows: plan.reason,
      columns: columnsOf("PlanReason"),
    });
  }
}

function warnings() {
  if (list(plan.warning).length === 0) return void at("warnings").remove();
  at("warnings-body").append(make("ul", { class: "warnings" }, ...plan.warning.map((w) => make("li", {}, w))));
}

begin();
header();
answer();
best();
parts();
why();
memory();
tried();
warnings();
end();
