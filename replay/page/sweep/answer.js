// The best points, and how far the others are off.
const aim = sweep.objective.maximize ? "largest" : "least";

// How far a value that is worse by `more` is from the best, of the best.
function off(more, best) {
  if (more === 0) return "best";
  const sign = sweep.objective.maximize ? "-" : "+";
  if (best === 0) return `${sign}${shown(objectiveName, more)}`;
  const share = (100 * more) / Math.abs(best);
  return `${sign}${share < 0.05 ? "0.0" : share < 1000 ? share.toFixed(1) : count(Math.round(share))} %`;
}

class Answer {
  constructor() {
    this.table = null;
  }

  columns(best) {
    const others = [...sweep.expressions.map((e) => e[0]), "makespan_ps"].filter(
      (name, i, all) => name !== objectiveName && metricNames.includes(name) && all.indexOf(name) === i,
    );
    return [
      numberColumn,
      ...axisColumns,
      columnOf(objectiveQuantity),
      {
        title: "From the best",
        of: (p) => better * (p.objective - best.objective),
        as: (v) => off(v, best.objective),
      },
      ...others.map((name) => columnOf(metricQuantity(name))),
    ];
  }

  show(chosen) {
    const order = ranked(chosen);
    if (order.length === 0) return this.nothing(chosen);
    const best = order[0];
    const equal = order.filter((p) => p.objective === best.objective).length;
    const worst = order[order.length - 1];
    const middle = median(order.map((p) => p.objective));
    const next = order[equal];
    const from = (value) => off(better * (value - best.objective), best.objective);
    at("answer-text").textContent = [
      `The ${aim} ${titled(objectiveName)} of ${many(order.length, "point")} is ${shown(objectiveName, best.objective)}, ` +
        `of point ${best.number}${axes.length > 0 ? `: ${describe(best)}` : ""}.`,
      equal > 1 ? `${many(equal - 1, "other point")} ${equal === 2 ? "has" : "have"} the same.` : "",
      next
        ? `The next is at ${from(next.objective)}, the median at ${from(middle)}, the last at ${from(worst.objective)}.`
        : "",
    ]
      .filter((t) => t)
      .join(" ");
    if (this.table) {
      this.table.limit = Math.min(this.table.limit, kRows);
      this.table.columns = this.columns(best);
      this.table.setRows(order);
    } else {
      this.table = new Table(at("answer-best"), {
        id: "table-best",
        caption: "The best points",
        columns: this.columns(best),
        rows: order,
        limit: 10,
        filter: false,
      });
    }
    at("answer-best").hidden = false;
  }

  nothing(chosen) {
    at("answer-best").hidden = true;
    at("answer-text").textContent =
      points.length === 0 && failures.length > 0
        ? `No point has a result: all ${count(failures.length)} failed.`
        : chosen.length > 0
          ? `No chosen point has a value of ${objectiveName}.`
          : points.length > 0
            ? "No point is chosen."
            : sweep.where !== ""
              ? "There is no such point with a result."
              : "No point has a result yet.";
  }
}
