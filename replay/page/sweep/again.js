// What was asked, and what it takes to run it again.
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

function again() {
  const page = ["chakra-replay sweep page DIR -o page.html"];
  for (const name of ["where", "by"]) if (sweep[name] !== "") page.push(`--${name} ${quoted(sweep[name])}`);
  const host = at("again-body");
  host.append(
    make(
      "p",
      {},
      "With the spec below as a file, and the traces where it says, this gives the same results:",
    ),
    make("pre", { class: "code" }, `chakra-replay sweep ${sweep.source || "SPEC"} -o DIR\n${page.join(" ")}`),
    make(
      "p",
      { class: "note" },
      `chakra-replay ${sweep.version}. Each point is a command of its own, which is shown with it. ` +
        "The data of this page is JSON in its element with the id sweep.",
    ),
    make("h3", {}, "Spec"),
    make("pre", { class: "code", id: "spec", tabindex: "0", "aria-label": "Spec" }, sweep.spec),
  );
  host.append(make("h3", {}, "Axes"));
  if (sweep.axes.length === 0) host.append(empty("None: it is one point."));
  else
    new Table(host, {
      id: "table-axes",
      caption: "Axes",
      rows: sweep.axes,
      columns: [
        { title: "Axis", of: (a) => a.name, kind: "text" },
        {
          title: "Sets",
          of: (a) => (a.seed ? "--seed, of repeats" : a.sets || "words of the point"),
          kind: "text",
        },
        { title: "Values", of: (a) => a.values.length, as: count },
        {
          title: "Which",
          of: (a) => a.values.slice(0, 40).join(" | ") + (a.values.length > 40 ? " | ..." : ""),
          kind: "text name",
        },
      ],
    });
  if (sweep.expressions.length > 0) {
    host.append(make("h3", {}, "Metrics of the spec"));
    new Table(host, {
      id: "table-metrics",
      caption: "Metrics of the spec",
      rows: sweep.expressions,
      columns: [
        { title: "Metric", of: (e) => e[0], kind: "text" },
        { title: "Expression", of: (e) => e[1], kind: "text name" },
      ],
    });
  }
  host.append(make("h3", {}, "Files that were read"));
  if (sweep.inputs.length === 0)
    host.append(empty(
        sweep.rows.length === 0 ?
            'No point is shown.' :
            `Their sums were not kept. Traces: ${sweep.traces.join(', ') || 'none are named'}.`));
  else
    new Table(host, {
      id: "table-inputs",
      caption: "Files that were read",
      rows: sweep.inputs,
      columns: columnsOf("InputFile"),
    });
}
