// Which points the sections are about: values of axes, and conditions on anything.
const kMostValues = 60; // of an axis that has a list

const kOperators = {
  "==": (a, b) => a === b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
const kUnits = { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 };

// "40ms" where `name` is a time, numbers; undefined for anything else.
function numberIn(name, word) {
  const parts = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(ps|ns|us|ms|s)?$/i.exec(word);
  if (!parts || (parts[2] && !isTime(name))) return undefined;
  return Number(parts[1]) * (parts[2] ? kUnits[parts[2].toLowerCase()] : 1);
}

// NAME OPERATOR VALUE as a test of points. Throws what is wrong, in words.
function condition(name, operator, word, quoted) {
  const axis = axes.find((a) => a.name === name);
  const numeric = !axis || axis.numbers;
  if (!axis && ![...metricNames, "point"].includes(name))
    throw `There is neither an axis nor a metric "${name}".`;
  const test = kOperators[operator];
  if (!numeric) {
    if (!["==", "=", "!="].includes(operator)) throw `${name} is a text, which has == and != alone.`;
    return (p) => test(textOf(axis, p), word);
  }
  const number = quoted ? undefined : numberIn(name, word);
  if (number === undefined)
    throw `${name} is compared with a number${isTime(name) ? ", or a time as 40ms" : ""}, not with "${word}".`;
  const of = axis ? axisQuantity(axis).of : name === "point" ? numberQuantity.of : metricQuantity(name).of;
  return (p) => of(p) !== "" && test(of(p), number);
}

// "gbps >= 400 and design == 'fat tree'" as a test of points. Throws what is wrong.
function conditions(text) {
  const part =
    /\s*([A-Za-z_]\w*)\s*(==|!=|<=|>=|=|<|>)\s*(?:'([^']*)'|"([^"]*)"|([^\s,'"=<>!][^\s,'"]*))\s*(and\b|,|$)/y;
  const tests = [];
  while (part.lastIndex < text.trimEnd().length) {
    const found = part.exec(text);
    if (!found)
      throw "Expected NAME OPERATOR VALUE, several joined by and: gbps >= 400 and makespan_ps < 40ms";
    const quoted = found[3] ?? found[4];
    tests.push(condition(found[1], found[2], quoted ?? found[5], quoted !== undefined));
    if (found[6] === "") break;
  }
  return (p) => tests.every((test) => test(p));
}

class Chooser {
  // `changed` gets the chosen points and the chosen failures.
  constructor(host, changed) {
    this.changed = changed;
    this.values = new Map(); // axis: index of its value
    this.test = () => true;
    this.boxes = axes.map((axis) => this.list(axis)).filter((label) => label !== null);
    this.words = make("input", {
      type: "text",
      "aria-describedby": "choose-said",
      spellcheck: "false",
      placeholder: this.example(),
    });
    this.words.addEventListener("input", () => this.read());
    const reset = make("button", { type: "button" }, "All points");
    reset.addEventListener("click", () => this.reset());
    this.said = make("p", { class: "note", id: "choose-said", "aria-live": "polite" });
    host.append(
      make("div", { class: "controls" }, ...this.boxes),
      make("div", { class: "controls where" }, make("label", {}, "Where", this.words), reset),
      this.said,
    );
    this.tell();
  }

  example() {
    const axis = axes.find((a) => a.numbers && a.varies);
    const first = axis ? `${axis.name} >= ${axis.values[axis.values.length >> 1]}` : "";
    const metric = metricNames.includes("makespan_ps") ? "makespan_ps < 40ms" : "";
    return [first, metric].filter((t) => t).join(" and ") || "NAME < NUMBER";
  }

  // Values that points have, in the order of the axis.
  list(axis) {
    const used = [...new Set([...points, ...failures].map((p) => p.place[axis.index]))].sort((a, b) => a - b);
    if (used.length < 2 || used.length > kMostValues) return null;
    const [label, box] = select(axis.name, ["all", ...used.map((v) => axis.values[v])], (i) => {
      if (i === 0) this.values.delete(axis);
      else this.values.set(axis, used[i - 1]);
      this.tell();
    });
    box.dataset.axis = axis.name;
    return label;
  }

  read() {
    let wrong = "";
    try {
      this.test = conditions(this.words.value);
    } catch (what) {
      wrong = String(what);
    }
    this.words.setAttribute("aria-invalid", wrong !== "");
    if (wrong !== "") this.said.textContent = `${wrong} Nothing was changed.`;
    else this.tell();
  }

  reset() {
    this.values.clear();
    this.boxes.forEach((label) => (label.querySelector("select").value = 0));
    this.words.value = "";
    this.read();
  }

  tell() {
    const has = (p) => [...this.values].every(([axis, value]) => p.place[axis.index] === value);
    const chosen = points.filter((p) => has(p) && this.test(p));
    // Of a point that failed nothing but its axes is known.
    const failed = failures.filter((p) => has(p) && this.test(p));
    const bad =
      failures.length === 0 ? "" : `, and ${count(failed.length)} of ${count(failures.length)} that failed`;
    this.said.textContent = `${count(chosen.length)} of ${many(points.length, "point")} with a result${bad}.`;
    this.changed(chosen, failed);
  }
}
