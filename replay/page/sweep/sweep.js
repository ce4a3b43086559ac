// Fills the sections, and again when other points are chosen.
function header() {
  at("version").textContent = sweep.version;
  const waiting = Math.max(0, sweep.asked - sweep.ended);
  facts([
    ["Points", count(sweep.asked)],
    ["With a result", count(sweep.ended - sweep.failed)],
    ["Failed", sweep.failed > 0 && count(sweep.failed)],
    ["No result yet", waiting > 0 && count(waiting)],
    ["Left out by constraints", sweep.left_out > 0 && count(sweep.left_out)],
    ["Objective", `${sweep.objective.maximize ? "the largest" : "the least"} ${titled(objectiveName)}`],
    ["Repeats of each", sweep.repeats > 0 && count(sweep.repeats)],
    ["Search", sweep.search.toLowerCase().replace("_", " ")],
    ["Only where", sweep.where],
    ["Axes", count(axes.length)],
    ["Traces", sweep.traces.join(", ")],
    ["Spec", sweep.source],
  ]);
  const damaged =
    sweep.damaged > 0 ? [`${many(sweep.damaged, "damaged line")} of journals were passed over.`] : [];
  const says = [...sweep.warnings, ...damaged];
  if (sweep.description !== "") at("answer-text").before(make("p", {}, sweep.description));
  if (says.length > 0)
    at("answer-text").before(
      make("ul", { class: "warnings", id: "list-warnings" }, ...says.map((w) => make("li", {}, w))),
    );
}

begin();
header();
failedPoints();
const answer = new Answer(),
  effects = new Effects(),
  scatter = new Scatter(),
  all = new AllPoints();
new Chooser(at("choose-controls"), (chosen, failed) => {
  answer.show(chosen);
  effects.show(chosen);
  scatter.show(chosen);
  all.show(chosen, failed);
});
const first = ranked(points)[0] ?? points[0] ?? failures[0];
if (first) choosePoint(first, false);
else at("one").remove();
again();
end();
