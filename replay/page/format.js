// Numbers and names as the text report has them. The report in the page leaves out default values, and has
// 64-bit integers as strings.
const number = (value) => Number(value ?? 0);
const list = (value) => value ?? [];

// Four significant digits, without zeros at the end.
const digits = (value) => String(Number(value.toPrecision(4)));

function scaled(value, units, step) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    unit += 1;
  }
  return `${digits(value)} ${units[unit]}`;
}

const time = (ps) => (number(ps) === 0 ? "0 s" : scaled(number(ps), ["ps", "ns", "us", "ms", "s"], 1000));
const bytes = (value) => scaled(number(value), ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], 1024);
const count = (value) => String(value ?? 0).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (share) => `${(100 * number(share)).toFixed(1)} %`;
const percent3 = (share) => `${(100 * number(share)).toFixed(3)} %`;
const rate = (value) => number(value).toFixed(2);
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

const at = (id) => document.getElementById(id);
const empty = (what) => make("p", { class: "empty" }, what);
