// The picture of the shared tile: chunks of 16 bytes on a canvas, in panels of 32 lines.

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
  const fade = instructionOf(i) < state.issued ? 1 : 0.12;
  if (state.colour === "bank") return `hsl(${hue(bankGroup(i))} ${look.chroma} ${look.light}% / ${fade})`;
  if (state.colour === "instruction") {
    const at = instructions[instructionOf(i)];
    return `hsl(${(hue(at.cta) + (at.index || 0) * 47) % 360} ${look.chroma} ${look.light}% / ${fade})`;
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
    g.globalAlpha = instructionOf(i) < state.issued ? 1 : 0.4;
    g.fillStyle = ink;
    g.font = "9px ui-monospace, 'DejaVu Sans Mono', monospace";
    g.fillText(String(state.arrange === "memory" ? chunks.column[i] : bankGroup(i)), p.x + (CELL.width - 1) / 2, p.y + CELL.height / 2);
    g.globalAlpha = 1;
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
  chunks.instruction.forEach((_, i) => {
    const instruction = instructionOf(i);
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
  const word = (p) => (p === null ? "–" : p.worst === 1 ? "free of conflicts" : `${p.worst} wavefronts`);
  const r = e.reads;
  $("banks").textContent = `Reads of 16 bytes by 8 lanes: along rows ${word(r.row)}; down columns, as ldmatrix, ${word(r.column)}. One element per lane down columns: ${word(r.element)}.`;
}
