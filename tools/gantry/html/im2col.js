// Pictures of an im2col copy: the pixels of the input that a tile takes under one tap, and the instructions of the tile.
// The shared picture shows the buffer of one tap and one tile of channels, a group: one instruction of each CTA.

const isIm2col = e.kind === "im2col";
const groupCount = isIm2col ? instructions.length / e.ctas : 0;
const currentGroup = () => Math.max(0, Math.min(groupCount, Math.ceil(state.issued / e.ctas)) - 1);

// The place in the list of the instruction that moves a chunk of the picture.
const instructionOf = (chunk) => (!isIm2col || chunks.instruction[chunk] < 0 ? chunks.instruction[chunk] : currentGroup() * e.ctas + chunks.instruction[chunk]);

// Where a column of pixels goes, as the hardware walks it: along W to the end of the pixel box, then along H, D and images.
function walkColumn(at) {
  const axes = e.output.length, c = at.coordinates.slice(), out = [];
  for (let pixel = 0; pixel < map.pixels_per_column; ++pixel) {
    out.push(c.map((v, i) => v + (at.offsets && i > 0 && i <= axes ? at.offsets[i - 1] : 0)));
    for (let axis = 0; axis <= axes; ++axis) {
      if (axis === axes) {
        ++c[axes + 1];
        break;
      }
      c[axis + 1] += map.element_strides[axis + 1];
      if (c[axis + 1] <= map.dims[axis + 1] - 1 + map.upper_corner[axis]) break;
      c[axis + 1] = map.lower_corner[axis];
    }
  }
  return out;
}

const isInside = (c) => c.every((v, i) => v >= 0 && v < map.dims[i]);
const groupName = (at) => `tap ${list(at.tap)}${e.channel_tiles > 1 ? `, channels from ${at.coordinates[0]}` : ""}`;

// What the pixels of any tap can reach along an axis, the tensor itself included.
function reach(axis) {
  const last = map.dims[axis + 1] - 1 + map.upper_corner[axis] + (e.filter[axis] - 1) * e.dilation[axis];
  return { first: Math.min(0, map.lower_corner[axis]), end: 1 + Math.max(map.dims[axis + 1] - 1, last) };
}

const MOST_PLANES = 6;
let pixelRects = new Map();

function drawInput() {
  const x = reach(0), y = e.output.length > 1 ? reach(1) : { first: 0, end: 1 };
  const members = instructions.slice(currentGroup() * e.ctas, (currentGroup() + 1) * e.ctas);
  const planes = new Map();
  members.forEach((at) => walkColumn(at).forEach((c, k) => {
    const key = c.slice(3).reverse().join(", ") || String(c[2]);
    const outer = e.output.length > 1 ? key : String(c[2]);
    if (!planes.has(outer)) planes.set(outer, []);
    planes.get(outer).push({ c, cta: at.cta, row: at.cta * map.pixels_per_column + k });
  }));
  pixelRects = new Map();
  const holder = $("tensor"), names = e.output.length > 2 ? "image, D" : "image";
  holder.replaceChildren();
  holder.className = planes.size > 1 ? "facets" : "";
  for (const [outer, pixels] of [...planes].slice(0, MOST_PLANES)) {
    holder.append(element("div", {}, drawPlane(x, y, pixels, planes.size === 1), element("p", { class: "hint" }, `${names} ${outer}`)));
  }
  if (planes.size > MOST_PLANES) holder.append(element("p", { class: "hint" }, `and ${count(planes.size - MOST_PLANES, "plane")} more`));
  if (members.length > 0) $("tensor-hint").textContent = `One plane for each image, W to the right, H down; hatched is padding. Filled are the pixels of the tile under ${groupName(members[0])}.`;
}

function drawPlane(x, y, pixels, alone) {
  const w = x.end - x.first, h = y.end - y.first;
  const size = fit(w, h, alone ? 420 : 190, 330), sx = size.width / w, sy = size.height / h;
  const svg = element("svg", { viewBox: `0 0 ${size.width + 4} ${size.height + 4}`, role: "img" }, hatch());
  const rect = (c, wide, high, attributes) => element("rect", { x: 2 + (c[0] - x.first) * sx, y: 2 + (c[1] - y.first) * sy, width: wide * sx, height: high * sy, ...attributes });
  svg.append(rect([x.first, y.first], w, h, { class: "outside" }));
  svg.append(rect([0, 0], map.dims[1], e.output.length > 1 ? map.dims[2] : 1, { class: "tensor" }));
  for (const p of pixels) {
    const r = rect([p.c[1], e.output.length > 1 ? p.c[2] : 0], 1, 1, { class: "box", fill: `hsl(${hue(p.cta)} 60% 55%)`, "stroke-width": Math.min(1, sx / 4) });
    r.addEventListener("pointerenter", () => hoverPixel(p));
    pixelRects.set(p.row, r);
    svg.append(r);
  }
  svg.addEventListener("pointerleave", leave);
  return svg;
}

function drawMatrix() {
  const step = Math.max(14, Math.min(60, 420 / groupCount)), high = 26, top = 18;
  const svg = element("svg", { viewBox: `0 0 ${groupCount * step + 4} ${e.ctas * high + top + 4}` });
  svg.style.maxWidth = `${(groupCount * step + 4) * 1.25}px`;
  instructions.forEach((at, i) => {
    const group = Math.floor(i / e.ctas), y = top + at.cta * high;
    const box = element("rect", { x: 2 + group * step, y, width: step, height: high, class: "box", fill: `hsl(${hue(at.cta)} 60% 55%)` });
    box.addEventListener("pointerenter", () => hoverInstruction(i));
    box.addEventListener("click", () => setIssued((group + 1) * e.ctas));
    boxRects[i] = box;
    svg.append(box, element("text", { class: "number", x: 2 + (group + 0.5) * step, y: y + high / 2 }, step > 36 ? at.tap.join(",") : String(group)));
  });
  svg.append(element("text", { x: 2, y: 12 }, `taps${e.channel_tiles > 1 ? " × tiles of channels" : ""} →`));
  svg.addEventListener("pointerleave", leave);
  $("boxes").append(element("div", { class: "scroll" }, svg));
  const more = e.instruction_count > instructions.length ? `; ${count(e.instruction_count - instructions.length, "instruction")} more are not shown` : "";
  $("boxes").append(element("p", { class: "hint" }, `Tile ${e.pixel_tile} of ${e.pixel_tiles}: output pixels ${e.pixel_tile * e.tile_pixels} to ${Math.min(e.pixels, (e.pixel_tile + 1) * e.tile_pixels) - 1}${more}`));
}

// A chunk under the tap and channels that are shown.
function chunkCoordinate(chunk) {
  const at = instructions[instructionOf(chunk)];
  const c = walkColumn(at)[chunks.row[chunk] - at.cta * map.pixels_per_column];
  return [c[0] + chunks.column[chunk] * chunkElements, ...c.slice(1)];
}

function hoverPixel(p) {
  const chunk = hasShared ? chunks.instruction.findIndex((k, i) => k >= 0 && chunks.row[i] === p.row && chunks.column[i] === 0) : -1;
  if (chunk >= 0) hoverChunk(chunk);
  else say(`pixel ${p.row} of the tile ↔ ${isInside(p.c) ? "input" : "filled:"} (C, W, H…, N) = ${list(p.c)}`);
}

const im2colView = {
  draw() {
    $("tensor-title").textContent = e.op === "store_im2col" ? "What is stored" : "The input under one tap";
    $("boxes-title").textContent = "The instructions of the tile";
    $("boxes-hint").textContent = "One for each tap and tile of channels, in each CTA; a click shows its pixels and its buffer.";
    drawMatrix();
  },
  issued: drawInput,
  mark(chunk) {
    const r = pixelRects.get(chunks.row[chunk]);
    if (r) r.classList.add("here");
  },
  unmark() {
    for (const r of pixelRects.values()) r.classList.remove("here");
  },
  describe(chunk) {
    const at = instructions[instructionOf(chunk)], c = chunkCoordinate(chunk);
    const source = isInside(c) ? `byte +${globalByte(c)} of the tensor` : e.op === "store_im2col" ? "outside of the tensor: not stored" : "outside of the tensor: filled";
    return `(C, W, H…, N) = ${list(c)}, ${chunkValues} channels from there, ${source} · pixel ${chunks.row[chunk]} of the tile · ${groupName(at)}, CTA ${at.cta}`;
  },
  describeInstruction(at) {
    const to = at.shared_offset === null ? "L2" : `shared +${hex(at.shared_offset)}`;
    return `CTA ${at.cta}, ${groupName(at)}: ${map.pixels_per_column} pixels from ${list(at.coordinates)}${at.offsets ? ` + ${list(at.offsets)}` : ""} ↔ ${to}, ${at.bytes} bytes, ${at.pixels_inside} pixels inside`;
  },
  // What the walk of the hardware and the list of chunks say of the first group.
  problemOf(chunk) {
    const at = instructions[chunks.instruction[chunk]];
    const c = walkColumn(at)[chunks.row[chunk] - at.cta * map.pixels_per_column];
    const byte = globalByte([c[0] + chunks.column[chunk] * chunkElements, ...c.slice(1)]);
    return byte === chunks.global_byte[chunk] ? "" : `chunk ${chunk}: byte ${byte} by the walk, ${chunks.global_byte[chunk]} by the plan`;
  },
  columns: ["CTA", "#", "tap", "coordinates", "offsets", "shared", "bytes", "pixels outside", "CTA mask"],
  cells: (at, i) => [Math.floor(i / e.ctas), list(at.tap), list(at.coordinates), at.offsets ? list(at.offsets) : "–", at.shared_offset === null ? "–" : "+" + at.shared_offset, at.bytes, map.pixels_per_column - at.pixels_inside, binary(at.cta_mask)],
  asked: () => [["input", `${list(map.dims)} channels first, images last`], ["filter", list(e.filter)], ["tile", `${e.tile_pixels} pixels x ${map.channels_per_pixel} channels`]],
};
