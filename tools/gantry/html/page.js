"use strict";
const e = JSON.parse(document.getElementById("explanation").textContent);
const $ = (id) => document.getElementById(id);
const CHUNK = 16, BANK_ROW = 128, PANEL_ROWS = 32;
const CELL = { width: 17, height: 13, left: 46, top: 18, gap: 14 };
const OP_WORDS = { load: "load", load_multicast: "multicast load", store: "store", prefetch: "prefetch" };

const instructions = e.instructions || [];
const chunks = e.shared && e.shared.chunks;
const hasShared = Boolean(chunks && chunks.instruction.length > 0);
const state = { colour: "row", arrange: "memory", issued: instructions.length, instruction: -1, chunk: -1 };

// ---- Small helpers

function element(tag, attributes, ...children) {
  const svg = ["svg", "rect", "line", "text", "g", "path", "defs", "pattern", "title"].includes(tag);
  const out = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) out.setAttribute(name, value);
  out.append(...children);
  return out;
}
const sentence = (text) => text[0].toUpperCase() + text.slice(1) + ".";
const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
const hex = (n) => "0x" + n.toString(16).padStart(4, "0");
const list = (values) => `(${values.join(", ")})`;
const binary = (mask) => (mask === null ? "–" : "0b" + mask.toString(2));
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Hues that neighbours can be told apart by.
const HUES = [212, 28, 145, 330, 52, 265, 180, 0];
const hue = (i) => HUES[i % HUES.length];

// ---- Text

function showText() {
  const op = OP_WORDS[e.op] || e.op.replace("reduce_", "reduction by ");
  $("title").textContent = `TMA ${op} of ${e.element}`;
  document.title = $("title").textContent;
  const verdict = $("verdict");
  verdict.className = e.ok ? "good" : "bad";
  verdict.textContent = e.ok
    ? `Runs: ${count(instructions.length, "instruction")}, ${count(e.tile.bytes, "byte")} ${hasShared ? "of shared memory" : "into L2"}`
    : `Does not run: ${count(e.refused.length, "reason")}`;
  const shared = e.ctas > 1 ? `${e.ctas} CTAs share the tile: each issues its part of every box, all receive it` : "one CTA";
  for (const [name, value] of [["global", e.gmem], ["shared", e.smem], ["tile", e.tiler], ["cluster", shared]]) {
    $("asked").append(element("dt", {}, name), element("dd", {}, value));
  }
  for (const o of e.refused) {
    $("objections").hidden = false;
    const note = o.on_hopper_only ? " The plan itself stands: Hopper does not run it." : "";
    const item = element("li", { class: "objection" }, element("p", {}, o.sentence + "." + note));
    item.append(element("p", { class: "soft mono" }, o.rule));
    $("objections").querySelector("ul").append(item);
  }
  for (const a of e.advice || []) {
    $("advice").hidden = false;
    const item = element("li", { class: a.level }, element("p", {}, element("b", {}, sentence(a.what))));
    item.append(element("p", { class: "soft" }, sentence(a.why)), element("p", {}, "→ " + sentence(a.change)));
    $("advice").querySelector("ul").append(item);
  }
  for (const s of e.steps) {
    $("steps").hidden = false;
    $("steps").querySelector("dl").append(element("dt", {}, `${s.name}: ${s.what}`), element("dd", {}, s.value));
  }
  for (const f of e.fields || []) {
    $("fields").hidden = false;
    const meaning = element("td", { class: "soft" }, f.meaning);
    $("fields").querySelector("table").append(element("tr", {}, element("td", {}, f.name), element("td", {}, f.value), meaning));
  }
}

function showInstructions() {
  $("ptx").textContent = e.ptx;
  const table = $("instructions");
  const heading = element("tr", {});
  for (const h of ["CTA", "#"]) heading.append(element("th", {}, h));
  heading.append(element("th", {}, "coordinates"));
  for (const h of ["shared", "bytes", "outside"]) heading.append(element("th", { class: "right" }, h));
  heading.append(element("th", {}, "CTA mask"));
  table.append(heading);
  instructions.forEach((at, i) => {
    const swatch = element("span", { class: "swatch", style: `background:hsl(${hue(at.cta)} 55% 55%)` });
    const row = element("tr", { id: `i${i}` }, element("td", {}, swatch, String(at.cta)), element("td", {}, String(at.index)));
    row.append(element("td", {}, list(at.coordinates)));
    const offset = at.shared_offset === null ? "–" : "+" + at.shared_offset;
    for (const value of [offset, at.bytes, at.bytes - at.bytes_inside]) {
      row.append(element("td", { class: "right" }, String(value)));
    }
    row.append(element("td", {}, binary(at.cta_mask)));
    row.addEventListener("pointerenter", () => hoverInstruction(i));
    row.addEventListener("pointerleave", leave);
    table.append(row);
  });
}

// ---- Global memory: coordinates are those of the tensor map, dimension 0 to the right, dimension 1 down

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
  if (!map.dims) return;
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

// ---- The shared tile

function swizzled(byte) {
  const { bits, base, shift } = e.shared.swizzle;
  const read = byte & (((1 << bits) - 1) << (base + Math.max(shift, 0)));
  return byte ^ (shift < 0 ? read << -shift : read >> shift);
}

const canvas = $("shared");
const grid = { columns: 8, rows: 0, panels: 0, perLine: 1 };

// Where a chunk is drawn: column and row of the picture.
function cellOf(i) {
  if (state.arrange === "memory") return { column: i % 8, row: Math.floor(i / 8) };
  return { column: chunks.column[i], row: chunks.row[i] };
}

function arrange() {
  const drawn = chunks.instruction.map((_, i) => i).filter((i) => state.arrange === "memory" || chunks.instruction[i] >= 0);
  grid.columns = 1 + drawn.reduce((most, i) => Math.max(most, cellOf(i).column), 0);
  grid.rows = 1 + drawn.reduce((most, i) => Math.max(most, cellOf(i).row), 0);
  grid.panels = Math.ceil(grid.rows / PANEL_ROWS);
  const panel = CELL.left + grid.columns * CELL.width + CELL.gap;
  grid.perLine = Math.max(1, Math.floor((canvas.parentElement.clientWidth + CELL.gap) / panel));
  grid.panelWidth = panel;
  grid.panelHeight = Math.min(grid.rows, PANEL_ROWS) * CELL.height + 30;
  return drawn;
}

function positionOf(cell) {
  const panel = Math.floor(cell.row / PANEL_ROWS);
  return {
    x: (panel % grid.perLine) * grid.panelWidth + CELL.left + cell.column * CELL.width,
    y: Math.floor(panel / grid.perLine) * grid.panelHeight + CELL.top + (cell.row % PANEL_ROWS) * CELL.height,
  };
}

const bankGroup = (i) => i % 8;

function cellColour(i, look) {
  if (chunks.instruction[i] < 0) return look.empty;
  const lightness = (step) => `${look.light + (step % 8 - 3.5) * look.spread}%`;
  const fade = chunks.instruction[i] < state.issued ? 1 : 0.12;
  if (state.colour === "bank") return `hsl(${hue(bankGroup(i))} ${look.chroma} ${look.light}% / ${fade})`;
  if (state.colour === "instruction") {
    const at = instructions[chunks.instruction[i]];
    return `hsl(${(hue(at.cta) + at.index * 47) % 360} ${look.chroma} ${look.light}% / ${fade})`;
  }
  return `hsl(${hue(chunks.row[i])} ${look.chroma} ${lightness(chunks.column[i])} / ${fade})`;
}

let cellsDrawn = 0;

function drawShared() {
  if (!hasShared) return;
  const drawn = arrange();
  const lines = Math.ceil(grid.panels / grid.perLine);
  const width = Math.min(grid.panels, grid.perLine) * grid.panelWidth, height = lines * grid.panelHeight;
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  const look = { light: parseFloat(theme("--cell-light")), spread: parseFloat(theme("--cell-spread")), chroma: theme("--cell-chroma"), empty: theme("--line") };
  const ink = theme("--cell-ink"), soft = theme("--soft");
  g.textAlign = "center";
  g.textBaseline = "middle";
  cellsDrawn = 0;
  for (const i of drawn) {
    const p = positionOf(cellOf(i));
    g.fillStyle = cellColour(i, look);
    g.fillRect(p.x, p.y, CELL.width - 1, CELL.height - 1);
    ++cellsDrawn;
    if (chunks.instruction[i] < 0) continue;
    g.fillStyle = ink;
    g.font = "9px ui-monospace, 'DejaVu Sans Mono', monospace";
    g.fillText(String(state.arrange === "memory" ? chunks.column[i] : bankGroup(i)), p.x + (CELL.width - 1) / 2, p.y + CELL.height / 2);
  }
  g.fillStyle = soft;
  g.font = "10px system-ui, 'DejaVu Sans', sans-serif";
  for (let panel = 0; panel < grid.panels; ++panel) {
    const p = positionOf({ column: 0, row: panel * PANEL_ROWS });
    g.textAlign = "right";
    for (let r = 0; r < PANEL_ROWS && panel * PANEL_ROWS + r < grid.rows; r += 8) {
      const row = panel * PANEL_ROWS + r;
      g.fillText(state.arrange === "memory" ? "+" + row * BANK_ROW : String(row), p.x - 4, p.y + r * CELL.height + CELL.height / 2);
    }
    g.textAlign = "left";
    g.fillText(state.arrange === "memory" ? "banks 0–31 →" : "16-byte columns →", p.x, p.y - 9);
  }
  outline(g);
  showHint();
}

function outline(g) {
  const accent = theme("--accent");
  g.lineWidth = 2;
  g.strokeStyle = accent;
  chunks.instruction.forEach((instruction, i) => {
    const here = i === state.chunk || (state.chunk < 0 && state.instruction >= 0 && instruction === state.instruction);
    if (!here || (state.arrange === "tile" && instruction < 0)) return;
    const p = positionOf(cellOf(i));
    if (i === state.chunk) g.strokeRect(p.x - 1, p.y - 1, CELL.width + 1, CELL.height + 1);
    else {
      g.fillStyle = accent;
      g.fillRect(p.x, p.y + CELL.height - 3, CELL.width - 1, 2);
    }
  });
}

function showHint() {
  const digits = state.arrange === "memory"
    ? "A line is 128 bytes, once around the banks; the digit is the 16-byte column of the tile that lies there."
    : "A line is a row of the tile; the digit is the group of four banks in which the 16 bytes lie.";
  const colours = { row: "Hues follow rows of the tile, shades its columns.", bank: "Hues follow the groups of four banks.", instruction: "Hues follow the instructions." };
  $("shared-hint").textContent = `${digits} ${colours[state.colour]}`;
}

function showBanks() {
  const word = (p) => (p === null ? "–" : p.worst === 1 ? "free of conflicts" : `${p.worst} passes`);
  const r = e.reads;
  $("banks").textContent = `Reads of 16 bytes by 8 lanes: along rows ${word(r.row)}; down columns, as ldmatrix, ${word(r.column)}. One element a lane down columns: ${word(r.element)}.`;
}

// ---- The pointer

function say(text) {
  $("here").hidden = false;
  $("here").textContent = text;
}

function leave() {
  $("here").hidden = true;
  select(-1, -1);
}

function select(chunk, instruction) {
  const changed = chunk !== state.chunk || instruction !== state.instruction;
  state.chunk = chunk;
  state.instruction = instruction;
  if (!changed) return;
  boxRects.forEach((box, i) => box.classList.toggle("here", i === instruction));
  document.querySelectorAll("#instructions tr.here").forEach((row) => row.classList.remove("here"));
  if (instruction >= 0) $(`i${instruction}`).classList.add("here");
  for (const m of marks) m.mark.setAttribute("visibility", "hidden");
  if (chunk >= 0) markChunk(chunk);
  drawShared();
}

const chunkElements = map ? (CHUNK * 8) / map.element_bits : 1;

// The coordinate of a chunk in the tensor map: its place in the box of its instruction.
function mapCoordinate(chunk) {
  const at = instructions[chunks.instruction[chunk]];
  let element = (unswizzled[chunk] - at.shared_offset) / (map.element_bits / 8);
  return at.coordinates.map((first, i) => {
    const c = first + (element % boxExtent(i));
    element = Math.floor(element / boxExtent(i));
    return c;
  });
}

// A swizzle undoes itself.
const unswizzled = chunks ? chunks.instruction.map((_, i) => swizzled(i * CHUNK)) : [];
let chunkAtCoordinate = new Map();

function markChunk(chunk) {
  const c = mapCoordinate(chunk);
  const facet = marks.find((m) => m.members.has(chunks.instruction[chunk]));
  const r = facet.rect({ x: c[0], y: dim(c, 1, 0), w: chunkElements, h: 1 }, {});
  for (const name of ["x", "y"]) facet.mark.setAttribute(name, r.getAttribute(name) - 1);
  for (const name of ["width", "height"]) facet.mark.setAttribute(name, Math.max(5, +r.getAttribute(name) + 2));
  facet.mark.setAttribute("visibility", "visible");
}

function describeChunk(i) {
  const bank = bankGroup(i) * 4;
  const place = `shared +${hex(i * CHUNK)} (${i * CHUNK}), banks ${bank}–${bank + 3}`;
  if (chunks.instruction[i] < 0) return `${place}: not part of the tile`;
  const at = instructions[chunks.instruction[i]];
  const first = chunks.global[i];
  const source = chunks.inside[i] ? `global byte +${chunks.global_byte[i]}` : "outside of the tensor";
  return `${place} ↔ global ${list(first)}, ${chunkElements} elements from there, ${source} · tile row ${chunks.row[i]}, 16-byte column ${chunks.column[i]} · instruction ${at.index} of CTA ${at.cta}`;
}

function hoverChunk(i) {
  select(i, chunks.instruction[i]);
  say(describeChunk(i));
}

function hoverInstruction(i) {
  const at = instructions[i];
  select(-1, i);
  const to = at.shared_offset === null ? "L2" : `shared +${hex(at.shared_offset)}`;
  say(`CTA ${at.cta}, instruction ${at.index}: box ${list(map.box)} at ${list(at.coordinates)} ↔ ${to}, ${at.bytes} bytes`);
}

function hoverElement(c, members) {
  const key = c.map((v, i) => (i === 0 ? Math.floor(v / chunkElements) * chunkElements : v)).join();
  const chunk = chunkAtCoordinate.get(key);
  if (chunk !== undefined) return hoverChunk(chunk);
  const i = members.find((k) => instructions[k].coordinates.every((first, d) => c[d] >= first && c[d] < first + boxExtent(d)));
  if (i !== undefined) hoverInstruction(i);
  else leave();
}

canvas.addEventListener("pointermove", (event) => {
  const x = event.offsetX, y = event.offsetY;
  const panel = Math.floor(y / grid.panelHeight) * grid.perLine + Math.floor(x / grid.panelWidth);
  const column = Math.floor(((x % grid.panelWidth) - CELL.left) / CELL.width);
  const inPanel = Math.floor(((y % grid.panelHeight) - CELL.top) / CELL.height);
  const row = panel * PANEL_ROWS + inPanel;
  if (column < 0 || column >= grid.columns || inPanel < 0 || inPanel >= PANEL_ROWS || row >= grid.rows) return leave();
  const i = state.arrange === "memory" ? row * 8 + column : chunks.instruction.findIndex((k, c) => k >= 0 && chunks.row[c] === row && chunks.column[c] === column);
  if (i >= 0 && i < chunks.instruction.length) hoverChunk(i);
  else leave();
});
canvas.addEventListener("pointerleave", leave);

// ---- Controls

function showIssued() {
  const n = instructions.length;
  $("issued-text").textContent = state.issued === n ? `all ${n}` : `${state.issued} of ${n}`;
  boxRects.forEach((box, i) => box.classList.toggle("waiting", i >= state.issued));
  drawShared();
}

function setIssued(n) {
  state.issued = Math.max(0, Math.min(instructions.length, n));
  $("issued").value = state.issued;
  showIssued();
}

function listen() {
  for (const name of ["colour", "arrange"]) {
    $(name).addEventListener("change", (event) => {
      state[name] = event.target.value;
      drawShared();
    });
  }
  $("issued").max = instructions.length;
  $("issued").addEventListener("input", (event) => setIssued(+event.target.value));
  $("back").addEventListener("click", () => setIssued(state.issued - 1));
  $("forward").addEventListener("click", () => setIssued(state.issued + 1));
  window.addEventListener("resize", drawShared);
}

function setTheme(name) {
  const dark = name === "dark" || (name === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[name];
  $("theme").dataset.choice = name;
  if (instructions.length > 0) drawShared();
}

// ---- The page looks at itself: what a test reads

function selfCheck() {
  const problems = [];
  const seen = new Set();
  const moved = new Array(instructions.length).fill(0);
  (chunks ? chunks.instruction : []).forEach((instruction, i) => {
    if (instruction < 0) return;
    moved[instruction] += CHUNK;
    seen.add(`${chunks.row[i]},${chunks.column[i]}`);
    const byte = globalByte(mapCoordinate(i));
    if (byte !== chunks.global_byte[i]) problems.push(`chunk ${i}: byte ${byte} by the tensor map, ${chunks.global_byte[i]} by the layout`);
  });
  const used = chunks ? chunks.instruction.filter((i) => i >= 0).length : 0;
  if (seen.size !== used) problems.push(`${used} chunks in ${seen.size} places of the tile`);
  if (used > 0) instructions.forEach((at, i) => at.bytes !== moved[i] && problems.push(`instruction ${i}: ${moved[i]} of ${at.bytes} bytes drawn`));
  const summary = { cells: cellsDrawn, boxes: boxRects.filter(Boolean).length, rows: document.querySelectorAll("#instructions tr").length - 1, problems: problems.slice(0, 8) };
  $("self-check").textContent = JSON.stringify(summary);
}

showText();
if (instructions.length > 0) {
  $("pictures").hidden = false;
  $("shared-section").hidden = !hasShared;
  if (hasShared) chunks.instruction.forEach((k, i) => k >= 0 && chunkAtCoordinate.set(mapCoordinate(i).join(), i));
  showInstructions();
  drawTensor();
  drawBoxes();
  if (hasShared) showBanks();
  listen();
}
setTheme("system");
if (instructions.length > 0) setIssued(instructions.length);
const THEMES = ["system", "light", "dark"];
$("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf($("theme").dataset.choice) + 1) % 3]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme($("theme").dataset.choice));
selfCheck();
