// Colours and shapes that tell points apart in a chart.
const kColours = 8;
const kShapes = ["circle", "triangle", "rect", "rectRot"];
const kMostGlyphs = kColours * kShapes.length;
const kSteps = 6; // parts of an axis of many numbers

// Between two colours "#rrggbb".
function mix(from, to, share) {
  const parts = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  const a = parts(from),
    b = parts(to);
  return `#${a
    .map((v, i) =>
      Math.round(v + share * (b[i] - v))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

// Values of an axis as at most `most` parts of neighbours: { name, values }, in the order of the numbers; parts of
// about as many values each.
function partsOf(axis, used, most) {
  const order = [...used].sort((a, b) => (axis.numbers ? axis.numbers[a] - axis.numbers[b] : a - b));
  if (!axis.numbers || order.length <= most) return order.map((v) => ({ name: brief(axis, v), values: [v] }));
  const parts = [];
  for (let i = 0; i < most; ++i) {
    const values = order.slice(
      Math.round((i * order.length) / most),
      Math.round(((i + 1) * order.length) / most),
    );
    parts.push({ name: `${brief(axis, values[0])} to ${brief(axis, values[values.length - 1])}`, values });
  }
  return parts;
}

// The classes of an axis: [{ name, has: point => boolean, colour, shape }]. Colours are those of the present theme.
function classesOf(axis) {
  if (!axis) return [{ name: "", has: () => true, colour: colour("c0"), shape: "circle" }];
  const used = new Set(points.map((p) => p.place[axis.index]));
  const parts = partsOf(axis, used, axis.numbers ? kSteps : kMostGlyphs);
  const own = parts.length > kMostGlyphs ? parts.slice(0, kMostGlyphs - 1) : parts;
  const classes = own.map((part, i) => {
    const values = new Set(part.values);
    const ramp = axis.numbers && parts.length > 1;
    return {
      name: part.name,
      has: (p) => values.has(p.place[axis.index]),
      colour: ramp ? mix(colour("low"), colour("high"), i / (parts.length - 1)) : colour(`c${i % kColours}`),
      shape: ramp ? kShapes[i % 2] : kShapes[Math.floor(i / kColours)],
    };
  });
  if (own.length < parts.length) {
    const left = new Set(parts.slice(own.length).flatMap((part) => part.values));
    classes.push({
      name: `${count(left.size)} others`,
      has: (p) => left.has(p.place[axis.index]),
      colour: colour("soft"),
      shape: "cross",
    });
  }
  return classes;
}

const kOutlines = {
  circle: "M7 2a5 5 0 1 0 .01 0z",
  triangle: "M7 2L12.5 11.5H1.5z",
  rect: "M2.5 2.5h9v9h-9z",
  rectRot: "M7 1L13 7L7 13L1 7z",
  cross: "M6 2h2v4h4v2h-4v4h-2v-4h-4v-2h4z",
};

function glyph(kind) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const outline = document.createElementNS(space, "path");
  for (const [name, value] of [
    ["viewBox", "0 0 14 14"],
    ["width", 14],
    ["height", 14],
    ["aria-hidden", "true"],
  ])
    svg.setAttribute(name, value);
  outline.setAttribute("d", kOutlines[kind.shape]);
  outline.setAttribute("fill", kind.colour);
  svg.append(outline);
  return svg;
}
