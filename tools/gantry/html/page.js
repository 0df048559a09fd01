// The pointer, the controls, what the page finds out about itself, and the start.

const view = isIm2col ? im2colView : tiledView;

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
  view.unmark();
  if (chunk >= 0) view.mark(chunk);
  drawShared();
}

const chunkElements = map ? (CHUNK * 8) / map.element_bits : 1;
const chunkValues = (CHUNK * 8) / e.element_bits;

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
  return chunks.instruction[i] < 0 ? `${place}: not part of the tile` : `${place} ↔ ${view.describe(i)}`;
}

function hoverChunk(i) {
  select(i, instructionOf(i));
  say(describeChunk(i));
}

function hoverInstruction(i) {
  select(-1, i);
  say(view.describeInstruction(instructions[i]));
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
  view.issued();
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
    const problem = view.problemOf(i);
    if (problem !== "") problems.push(problem);
  });
  const used = chunks ? chunks.instruction.filter((i) => i >= 0).length : 0;
  if (seen.size !== used) problems.push(`${used} chunks in ${seen.size} places of the tile`);
  if (used > 0) instructions.slice(0, isIm2col ? e.ctas : instructions.length).forEach((at, i) => at.bytes !== moved[i] && problems.push(`instruction ${i}: ${moved[i]} of ${at.bytes} bytes drawn`));
  const summary = { cells: cellsDrawn, boxes: boxRects.filter(Boolean).length, rows: document.querySelectorAll("#instructions tr[id]").length, problems: problems.slice(0, 8) };
  $("self-check").textContent = JSON.stringify(summary);
}

showText();
if (instructions.length > 0) {
  $("pictures").hidden = false;
  $("shared-section").hidden = !hasShared;
  if (hasShared && !isIm2col) chunks.instruction.forEach((k, i) => k >= 0 && chunkAtCoordinate.set(mapCoordinate(i).join(), i));
  showInstructions();
  view.draw();
  if (hasShared) showBanks();
  listen();
}
setTheme("system");
// Each tap fills a buffer of its own, and the first is shown.
if (instructions.length > 0) setIssued(isIm2col ? e.ctas : instructions.length);
const THEMES = ["system", "light", "dark"];
$("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf($("theme").dataset.choice) + 1) % 3]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme($("theme").dataset.choice));
selfCheck();
