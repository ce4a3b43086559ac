// How a quantity stands on an axis of a chart: values over `size`, which suits times.
class Scale {
  constructor(quantity, least, most) {
    this.quantity = quantity;
    this.least = least;
    this.most = most;
    const units =
      isTime(quantity.name) && !quantity.axis
        ? timeAxis(Math.max(Math.abs(least), Math.abs(most)), "")
        : null;
    this.size = units ? units.scale : 1;
    this.title = units ? titled(quantity.name) + units.title.text : quantity.name;
  }
  get texts() {
    return this.quantity.axis && !this.quantity.axis.numbers ? this.quantity.axis.values : null;
  }
  options(type) {
    const title = { display: true, text: short(this.title, 60) };
    if (this.texts) {
      return {
        type: "linear",
        title,
        min: -0.5,
        max: this.texts.length - 0.5,
        grid: { display: false },
        afterBuildTicks: (axis) => (axis.ticks = this.texts.map((_, value) => ({ value }))),
        ticks: { callback: (value) => short(this.texts[value] ?? "", 24), autoSkip: this.texts.length > 40 },
      };
    }
    const ticks = { callback: (value) => this.tick(value), maxTicksLimit: 9 };
    if (type !== "logarithmic") return { type, title, ticks };
    const [min, max] = [(0.9 * this.least) / this.size, (1.1 * this.most) / this.size];
    const marks = roundNumbers(min, max).map((value) => ({ value }));
    return {
      type,
      title,
      min,
      max,
      afterBuildTicks: (axis) => (axis.ticks = marks),
      ticks: { ...ticks, autoSkip: false },
    };
  }
  tick(value) {
    return Number.isInteger(value) ? tick(value) : digits(value);
  }
}

// Numbers of one digit between two positive ones: as many as there is room for.
function roundNumbers(min, max) {
  const decades = Math.log10(max / min);
  const firsts = decades > 5 ? [1] : decades > 1.5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
  const out = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); ++power)
    for (const first of firsts) out.push(Number(`${first}e${power}`));
  return out.filter((value) => value >= min && value <= max);
}
