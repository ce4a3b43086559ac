// Reads the report and fills the sections.

// Captures, jobs and edits have a section only where there are any.
function extra(id, heading, before, rows, columns) {
  if (list(rows).length === 0) return;
  const section = make("section", { id }, make("h2", {}, heading));
  at(before).before(section);
  new Table(section, { id: `table-${id}`, caption: heading, rows, columns });
}

function extras(report) {
  extra("steps", "Replay against the capture", "warnings", report.step, [
    { title: "Rank", of: (s) => s.rank ?? 0, as: plain },
    { title: "Step", of: (s) => s.step ?? "", kind: "text name" },
    { title: "Measured", of: (s) => s.measured_ps, as: time },
    { title: "Replayed", of: (s) => s.replayed_ps, as: time },
    {
      title: "Difference",
      as: percent,
      of: (s) =>
        number(s.measured_ps) === 0
          ? 0
          : (number(s.replayed_ps) - number(s.measured_ps)) / number(s.measured_ps),
    },
    { title: "Kernels", of: (s) => s.kernels, as: count },
    { title: "Start error, median", of: (s) => s.kernel_start_error_ps, as: time },
  ]);
  extra("jobs", "Jobs", "warnings", report.job, [
    named("Job"),
    { title: "Traces", of: (j) => j.input ?? "", kind: "text name" },
    { title: "First rank", of: (j) => j.first_rank ?? 0, as: plain },
    { title: "Ranks", of: (j) => j.ranks, as: count },
    { title: "Start", of: (j) => j.start_ps, as: time },
    { title: "End", of: (j) => j.end_ps, as: time },
    { title: "Makespan", of: (j) => j.makespan_ps, as: time, share: true, colour: () => "plain" },
  ]);
  extra("edits", "Edits", "warnings", report.edits?.outcome, [
    { title: "Edit", of: (e) => e.edit ?? "", kind: "text name" },
    ...["matched", "ranks", "changed", "added", "removed"].map((f) => ({
      title: f[0].toUpperCase() + f.slice(1),
      of: (e) => e[f],
      as: count,
    })),
    { title: "Notes", of: (e) => list(e.note).join("; "), kind: "text" },
  ]);
}

const report = JSON.parse(at("report").textContent);
begin();

header(report);
bound(report);
path(report);
new Ranks(report);
collectives(report);
stragglers(report);
operators(report);
links(report);
compute(report);
warnings(report);
inputs(report);
extras(report);
end();
