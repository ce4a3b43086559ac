// Numbers and names as the text report has them. The report in the page leaves out default values, and has
// 64-bit integers as strings.
const number = (value) => Number(value ?? 0);
const list = (value) => value ?? [];

// As %.4g: four significant digits, of two that are as near the even one, without zeros at the end.
function digits(value) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  let [mantissa, exponent] = value.toExponential(3).split("e");
  const exact = value.toExponential(60);
  if (/^-?\d\.\d{3}50+e/.test(exact) && /[02468]$/.test(exact.slice(0, mantissa.length)))
    mantissa = exact.slice(0, mantissa.length);
  const power = Number(exponent);
  if (power >= -4 && power < 4) return String(Number(`${mantissa}e${exponent}`));
  const sign = power < 0 ? "-" : "+";
  return `${Number(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

function scaled(value, units, step) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    unit += 1;
  }
  return `${digits(value)} ${units[unit]}`;
}

function time(ps) {
  const s = number(ps) * 1e-12;
  const size = Math.abs(s);
  if (size === 0) return "0 s";
  if (size < 1e-9) return `${digits(s * 1e12)} ps`;
  if (size < 1e-6) return `${digits(s * 1e9)} ns`;
  if (size < 1e-3) return `${digits(s * 1e6)} us`;
  return size < 1 ? `${digits(s * 1e3)} ms` : `${digits(s)} s`;
}
const bytes = (value) => scaled(number(value), ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], 1024);
const joules = (value) => scaled(number(value), ["uJ", "mJ", "J", "kJ", "MJ", "GJ", "TJ"], 1000);
const count = (value) => String(value ?? 0).replace(/\B(?=(\d{3})+$)/g, ",");
// A fraction with `n` digits after the point; from 10,000 on a whole number.
const real = (value, n) =>
  Math.abs(number(value)) >= 1e4 ? count(Math.round(number(value))) : number(value).toFixed(n);
// A number at an axis.
const tick = (value) => (Math.abs(value) >= 1e4 && Math.abs(value) < 1e15 ? count(Math.round(value)) : digits(value));
const percent = (share) => `${(100 * number(share)).toFixed(1)} %`;
const text = (value) => value || "-";
const plain = (value) => String(value ?? 0);

// An element; `children` are elements or texts. Attributes that are undefined are left out.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// A labelled list of `names`; `changed` gets the number of the one that was chosen.
function select(label, names, changed) {
  const box = make("select", {}, ...names.map((name, i) => make("option", { value: i }, name)));
  box.addEventListener("change", () => changed(Number(box.value)));
  return [make("label", {}, label, box), box];
}

// [name, value] pairs at the head of a page, those with a value.
function facts(pairs) {
  at("facts").append(
    ...pairs
      .filter(([, value]) => value)
      .map(([name, value]) =>
        make(
          "div",
          { class: String(value).length > 24 ? "wide" : undefined },
          make("dt", {}, name),
          make("dd", {}, ...breakable(value)),
        ),
      ),
  );
}

// Text that breaks behind separators first, so that words stay whole: behind "/", and behind others before a letter.
const breakable = (words) =>
  String(words)
    .split(/(?<=\/)(?=[^/\s])|(?<=[_,;:=.<>)|])(?=[A-Za-z])/)
    .flatMap((part, i) => (i === 0 ? [part] : [make("wbr"), part]));

const at = (id) => document.getElementById(id);
const empty = (what) => make("p", { class: "empty" }, what);
