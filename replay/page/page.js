// Reads the report and fills the sections.

// Captures, jobs, edits and fixed time have a section only where there are any.
function extra(id, heading, before, rows, columns) {
  if (list(rows).length === 0) return;
  const section = make("section", { id }, make("h2", {}, heading));
  at(before).before(section);
  new Table(section, { id: `table-${id}`, caption: heading, rows, columns });
}

// Of a step that was generated from the configuration of its model.
function training(report) {
  const step = report.training;
  if (!step) return;
  const table = (id, heading, rows, type) =>
    extra(id, heading, "ranks", rows, columnsOf(type, { rows: list(rows) }));
  table("training", "Training step", [step], "TrainingReport");
  const section = at("training");
  if (step.mfu_formula)
    section.append(make("p", { class: "note" }, `MFU: ${step.mfu_formula}. HFU: ${step.hfu_formula}.`));
  table("memory", "Memory of a rank at its peak, by stage", step.memory, "StageMemory");
  table("phases", "Computation by phase", step.phase, "PhaseReport");
  table("exposed", "Exposed communication by kind", step.exposed, "ExposedReport");
}

function extras(report) {
  const measured = (s) => number(s.measured_ps);
  const difference = {
    title: "Difference",
    as: percent,
    of: (s) => (measured(s) === 0 ? 0 : (number(s.replayed_ps) - measured(s)) / measured(s)),
  };
  extra(
    "steps",
    "Replay against the capture",
    "warnings",
    report.step,
    columnsOf("StepReport", { more: [[50, difference]] }),
  );
  extra("jobs", "Jobs", "warnings", report.job, columnsOf("JobReport"));
  const fixed_time = report.fixed_time;
  extra(
      'fixed_time',
      'Fixed time: taken as recorded',
      'warnings',
      fixed_time && [fixed_time.run, fixed_time.critical_path, ...list(fixed_time.rank)],
      columnsOf('FixedTime'),
  );
  const notes = { title: "Notes", of: (e) => list(e.note).join("; "), kind: "text" };
  extra(
    "edits",
    "Edits",
    "warnings",
    report.edits?.outcome,
    columnsOf("EditOutcome", { more: [[70, notes]] }),
  );
}

const report = JSON.parse(at("report").textContent);
begin();

header(report);
bound(report);
path(report);
new Ranks(report);
timelineOf(report);
kernels(report);
overlap(report);
collectives(report);
stragglers(report);
operators(report);
links(report);
compute(report);
warnings(report);
inputs(report);
training(report);
energy(report);
economics(report);
extras(report);
end();
