// Pictures of global memory. Coordinates are those of the tensor map: dimension 0 to the right, dimension 1 down.

const map = e.descriptor;
const dim = (values, i, missing) => (values && i < values.length ? values[i] : missing);
const boxExtent = (i) => dim(map.box, i, 1);

// What the boxes of the tile cover.
function tileRange(i) {
  const starts = instructions.map((at) => dim(at.coordinates, i, 0));
  return { first: Math.min(...starts), end: Math.max(...starts) + boxExtent(i) };
}

// A rectangle of w by h in a picture: as wide as it may be, no more oblong than can be seen.
function fit(w, h, widest, highest) {
  const ratio = Math.min(3, Math.max(0.34, h / w));
  const width = Math.min(widest, highest / ratio);
  return { width, height: width * ratio };
}

function hatch() {
  const pattern = element("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" });
  pattern.append(element("path", { d: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", stroke: "var(--hatch)", "stroke-width": 1.2 }));
  return element("defs", {}, pattern);
}

function drawTensor() {
  if (!map.dims) {
    $("tensor").append(element("p", {}, "Extents and strides are known when a tensor is bound."));
    return;
  }
  const width = dim(map.dims, 0, 1), height = dim(map.dims, 1, 1);
  const x = tileRange(0), y = tileRange(1);
  const pixels = fit(Math.max(width, x.end), Math.max(height, y.end), 420, 330);
  const sx = pixels.width / Math.max(width, x.end), sy = pixels.height / Math.max(height, y.end);
  const left = 20, top = 22;
  const svg = element("svg", { viewBox: `0 0 ${460} ${Math.max(90, pixels.height) + top + 12}`, role: "img" });
  svg.append(element("title", {}, "the global tensor and the tile"));
  svg.append(element("rect", { x: left, y: top, width: width * sx, height: height * sy, class: "tensor" }));
  const lines = (extent, step, scale, draw) => {
    if (step * scale >= 3) for (let at = step; at < extent; at += step) draw(at * scale);
  };
  lines(width, x.end - x.first, sx, (at) => svg.append(element("line", { x1: left + at, x2: left + at, y1: top, y2: top + height * sy, class: "grid" })));
  lines(height, y.end - y.first, sy, (at) => svg.append(element("line", { x1: left, x2: left + width * sx, y1: top + at, y2: top + at, class: "grid" })));
  const tile = element("rect", {
    x: left + x.first * sx, y: top + y.first * sy,
    width: Math.max(4, (x.end - x.first) * sx), height: Math.max(4, (y.end - y.first) * sy), class: "tile",
  });
  svg.append(tile);
  svg.append(element("text", { x: left, y: 14 }, `dim 0: ${count(width, "element")}, contiguous →`));
  const down = element("text", { transform: `translate(6 ${top}) rotate(90)` }, `dim 1: ${height.toLocaleString("en")} →`);
  if (map.rank > 1) svg.append(down);
  svg.addEventListener("pointermove", (event) => {
    const at = pointIn(svg, event);
    const c = [Math.floor((at.x - left) / sx), Math.floor((at.y - top) / sy)].slice(0, map.rank);
    if (c.every((v, i) => v >= 0 && v < map.dims[i])) say(`tensor map coordinate ${list(c)}${c.length < map.rank ? ", others 0" : ""} ↔ byte +${globalByte(c)} of the tensor`);
    else leave();
  });
  svg.addEventListener("pointerleave", leave);
  $("tensor").append(svg);
  for (let i = 2; i < map.rank; ++i) {
    const r = tileRange(i);
    const p = element("p", { class: "hint" }, `dimension ${i}: ${count(map.dims[i], "element")}, the tile has ${r.first} to ${r.end - 1}`);
    $("tensor").append(p);
  }
}

function pointIn(svg, event) {
  const p = new DOMPoint(event.clientX, event.clientY);
  return p.matrixTransform(svg.getScreenCTM().inverse());
}

function globalByte(c) {
  const bytes = map.element_bits / 8;
  return c.reduce((sum, v, i) => sum + v * (i === 0 ? bytes : map.strides[i - 1]), 0);
}

// Boxes that differ in dimensions beyond the first two are drawn beside each other.
function facets() {
  const out = new Map();
  instructions.forEach((at, i) => {
    const key = at.coordinates.slice(2).join(", ");
    if (!out.has(key)) out.set(key, []);
    out.get(key).push(i);
  });
  return out;
}

const boxRects = [];
let marks = [];

function drawBoxes() {
  const x = tileRange(0), y = tileRange(1);
  const all = facets();
  const holder = $("boxes");
  if (all.size > 1) holder.className = "facets";
  for (const [outer, members] of all) holder.append(drawFacet(x, y, outer, members, all.size === 1));
}

function drawFacet(x, y, outer, members, alone) {
  const w = x.end - x.first, h = y.end - y.first;
  const pixels = fit(w, h, alone ? 420 : 190, 330);
  const left = 40, top = 24;
  const sx = pixels.width / w, sy = pixels.height / h;
  const svg = element("svg", { viewBox: `0 0 ${pixels.width + left + 30} ${pixels.height + top + 10}` }, hatch());
  svg.style.maxWidth = `${(pixels.width + left + 30) * 1.25}px`;
  const rect = (r, attributes) => element("rect", { x: left + (r.x - x.first) * sx, y: top + (r.y - y.first) * sy, width: r.w * sx, height: r.h * sy, ...attributes });
  svg.append(rect({ x: x.first, y: y.first, w, h }, { class: "outside" }));
  if (map.dims) {
    const right = Math.min(x.end, map.dims[0]), bottom = Math.min(y.end, dim(map.dims, 1, 1));
    if (right > x.first && bottom > y.first) svg.append(rect({ x: x.first, y: y.first, w: right - x.first, h: bottom - y.first }, { fill: "var(--page)" }));
  }
  const seen = new Set();
  for (const i of members) {
    const [cx, cy] = [instructions[i].coordinates[0], dim(instructions[i].coordinates, 1, 0)];
    const box = rect({ x: cx, y: cy, w: boxExtent(0), h: boxExtent(1) }, { class: "box", fill: `hsl(${hue(instructions[i].cta)} 60% 55%)` });
    boxRects[i] = box;
    svg.append(box);
    const wide = boxExtent(0) * sx, high = boxExtent(1) * sy;
    if (wide > 16 && high > 13) {
      const text = e.ctas > 1 && wide > 60 ? `${instructions[i].index} · CTA ${instructions[i].cta}` : String(instructions[i].index);
      svg.append(element("text", { class: "number", x: left + (cx - x.first + boxExtent(0) / 2) * sx, y: top + (cy - y.first + boxExtent(1) / 2) * sy }, text));
    }
    if (!seen.has(`y${cy}`) && (seen.size === 0 || high > 11)) svg.append(element("text", { x: left - 5, y: top + (cy - y.first) * sy + 9, "text-anchor": "end" }, String(cy)));
    if (!seen.has(`x${cx}`) && (seen.size === 0 || wide > 28)) svg.append(element("text", { x: left + (cx - x.first) * sx, y: top - 4 }, String(cx)));
    seen.add(`x${cx}`).add(`y${cy}`);
  }
  svg.append(rect({ x: x.first, y: y.first, w, h }, { class: "frame" }));
  const mark = element("rect", { class: "mark", visibility: "hidden" });
  svg.append(mark);
  marks.push({ mark, members: new Set(members), rect, x, y });
  svg.addEventListener("pointermove", (event) => {
    const at = pointIn(svg, event);
    const c = [Math.floor((at.x - left) / sx) + x.first, Math.floor((at.y - top) / sy) + y.first];
    hoverElement(c.concat(outer === "" ? [] : outer.split(", ").map(Number)).slice(0, map.rank), members);
  });
  svg.addEventListener("pointerleave", leave);
  const figure = element("div", {}, svg);
  const ranges = instructions[members[0]].coordinates.slice(2).map((first, i) => (boxExtent(i + 2) > 1 ? `${first} to ${first + boxExtent(i + 2) - 1}` : first));
  if (ranges.length > 0) figure.append(element("p", { class: "hint" }, ranges.map((r, i) => `dim ${i + 2}: ${r}`).join(", ")));
  return figure;
}

const tiledView = {
  draw() {
    drawTensor();
    drawBoxes();
  },
  issued() {},
  mark: (chunk) => markChunk(chunk),
  unmark() {
    for (const m of marks) m.mark.setAttribute("visibility", "hidden");
  },
  describe(chunk) {
    const at = instructions[chunks.instruction[chunk]];
    const source = chunks.inside[chunk] ? `global byte +${chunks.global_byte[chunk]}` : "outside of the tensor";
    return `global ${list(chunks.global[chunk])}, ${chunkValues} elements from there, ${source} · tile row ${chunks.row[chunk]}, 16-byte column ${chunks.column[chunk]} · instruction ${at.index} of CTA ${at.cta}`;
  },
  describeInstruction(at) {
    const to = at.shared_offset === null ? "L2" : `shared +${hex(at.shared_offset)}`;
    return `CTA ${at.cta}, instruction ${at.index}: box ${list(map.box)} at ${list(at.coordinates)} ↔ ${to}, ${at.bytes} bytes`;
  },
  problemOf(chunk) {
    const byte = globalByte(mapCoordinate(chunk));
    return byte === chunks.global_byte[chunk] ? "" : `chunk ${chunk}: byte ${byte} by the tensor map, ${chunks.global_byte[chunk]} by the layout`;
  },
  columns: ["CTA", "#", "coordinates", "shared", "bytes", "outside", "CTA mask"],
  cells: (at) => [at.index, list(at.coordinates), at.shared_offset === null ? "–" : "+" + at.shared_offset, at.bytes, at.bytes - at.bytes_inside, binary(at.cta_mask)],
  asked: () => [["global", e.gmem], ["shared", e.smem], ["tile", e.tiler]],
};
