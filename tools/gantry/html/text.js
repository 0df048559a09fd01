// What the page is given, small helpers, and everything on it that is text.
"use strict";
const e = JSON.parse(document.getElementById("explanation").textContent);
const $ = (id) => document.getElementById(id);
const CHUNK = 16, BANK_ROW = 128, PANEL_ROWS = 32;
const CELL = { width: 17, height: 13, left: 46, top: 18, gap: 14 };
const OP_WORDS = {
  load: "load", load_multicast: "multicast load", store: "store", prefetch: "prefetch",
  load_im2col: "im2col load", load_im2col_multicast: "im2col multicast load", store_im2col: "im2col store", prefetch_im2col: "im2col prefetch",
};

const instructions = e.instructions || [];
const chunks = e.shared && e.shared.chunks;
const hasShared = Boolean(chunks && chunks.instruction.length > 0);
const state = { colour: "row", arrange: "memory", issued: instructions.length, instruction: -1, chunk: -1 };

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

function showText() {
  const op = OP_WORDS[e.op] || e.op.replace("reduce_", "reduction by ");
  $("title").textContent = `TMA ${op} of ${e.element}`;
  document.title = $("title").textContent;
  const verdict = $("verdict");
  verdict.className = e.ok ? "good" : "bad";
  verdict.textContent = e.ok
    ? `Runs: ${count(e.instruction_count, "instruction")}, ${e.tile ? count(e.tile.bytes, "byte") : `each ${count(map.bytes, "byte")}`} ${e.shared ? "of shared memory" : "into L2"}`
    : `Does not run: ${count(e.refused.length, "reason")}`;
  const shared = e.ctas > 1 ? `${e.ctas} CTAs share the tile: each issues its part of every box, all receive it` : "one CTA";
  for (const [name, value] of [...(e.ok || e.kind === "tma" ? view.asked() : []), ["cluster", shared]]) {
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

const RIGHT = ["shared", "bytes", "outside", "pixels outside"];

function showInstructions() {
  $("ptx").textContent = e.ptx;
  const table = $("instructions");
  const right = (h) => (RIGHT.includes(h) ? { class: "right" } : {});
  const heading = element("tr", {});
  for (const h of view.columns) heading.append(element("th", right(h), h));
  table.append(heading);
  instructions.forEach((at, i) => {
    const swatch = element("span", { class: "swatch", style: `background:hsl(${hue(at.cta)} 55% 55%)` });
    const row = element("tr", { id: `i${i}` }, element("td", {}, swatch, String(at.cta)));
    view.cells(at, i).forEach((value, k) => row.append(element("td", right(view.columns[k + 1]), String(value))));
    row.addEventListener("pointerenter", () => hoverInstruction(i));
    row.addEventListener("pointerleave", leave);
    table.append(row);
  });
}
