"""Trains one small language model twice, with torch's layers and with Gantry's, and draws both loss curves.

Both start from the same parameters and see the same batches of characters. A third run, with torch's layers and another
order of the batches' rows, says how far rounding alone drives two curves apart: Gantry's should be as near.

    python bench/python/loss_curve.py --out loss.svg                  # on the CPU, f32: the aten reference
    python bench/python/loss_curve.py --device cuda --width 1024 --blocks 4 --out docs/measurements/loss.svg
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import gantry.torch

ROOT = Path(__file__).resolve().parents[2]


class Block(nn.Module):
    """Causal attention and an MLP, each with a norm before and a residual around."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.proj(mixed)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, letters: int, width: int, blocks: int, context: int):
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, max(1, width // 64)) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

    def forward(self, text: Tensor) -> Tensor:
        x = self.letters(text) + self.places(torch.arange(text.shape[1], device=text.device))
        return self.head(self.norm(self.blocks(x)))


def batches(text: Tensor, steps: int, batch: int, context: int) -> list[Tensor]:
    """Pieces of the text with one character more than the model reads; the same ones in each run."""
    generator = torch.Generator().manual_seed(1)
    starts = torch.randint(0, len(text) - context - 1, (steps, batch), generator=generator)
    return [torch.stack([text[s : s + context + 1] for s in row]) for row in starts.tolist()]


def train(model: nn.Module, data: list[Tensor], device: str) -> list[float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for pieces in data:
        pieces = pieces.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits = model(pieces[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def svg(curves: dict[str, list[float]]) -> str:
    """One line for each run, with axes of steps and of the loss in nats."""
    width, height, margin = 720, 400, 48
    steps, top = max(map(len, curves.values())), max(max(losses) for losses in curves.values())
    colours = ("#1f77b4", "#d62728", "#7f7f7f")
    right, bottom = width - margin, height - margin
    frame = f'<path d="M{margin} {margin}V{bottom}H{right}" fill="none" stroke="black"/>'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">', frame]
    for tick in range(5):
        x, y = margin + tick * (right - margin) / 4, bottom - tick * (bottom - margin) / 4
        out.append(
            f'<text x="{x:.0f}" y="{bottom + 18}" font-size="12" text-anchor="middle">{steps * tick // 4}</text>'
        )
        out.append(f'<text x="{margin - 6}" y="{y:.0f}" font-size="12" text-anchor="end">{top * tick / 4:.1f}</text>')
    for i, (name, losses) in enumerate(curves.items()):
        points = " ".join(
            f"{margin + step * (right - margin) / steps:.1f},{bottom - loss / top * (bottom - margin):.1f}"
            for step, loss in enumerate(losses)
        )
        out.append(f'<polyline points="{points}" fill="none" stroke="{colours[i]}"/>')
        out.append(f'<text x="{right}" y="{margin + 18 * i}" text-anchor="end" fill="{colours[i]}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])


def distance(one: list[float], other: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(one, other))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("loss.svg"))
    options.add_argument("--text", type=Path, default=ROOT / "README.md")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    for name, default in (("steps", 200), ("batch", 16), ("context", 64), ("width", 64), ("blocks", 2)):
        options.add_argument(f"--{name}", type=int, default=default)
    asked = options.parse_args()

    text = asked.text.read_text(encoding="utf-8")
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    data = batches(torch.tensor([letters[x] for x in text]), asked.steps, asked.batch, asked.context)
    torch.manual_seed(0)
    torchs = Model(len(letters), asked.width, asked.blocks, asked.context).to(asked.device)
    again, ours = copy.deepcopy(torchs), copy.deepcopy(torchs)
    swaps = gantry.torch.replace(ours)
    print(f"{sum(swap.swapped for swap in swaps)} of {len(swaps)} swapped")
    curves = {
        "torch": train(torchs, data, asked.device),
        "gantry.torch": train(ours, data, asked.device),
        "torch, rows in another order": train(again, [pieces.flip(0) for pieces in data], asked.device),
    }
    asked.out.write_text(svg(curves), encoding="utf-8")
    base, own, noise = curves.values()
    print(
        f"loss {base[0]:.3f} to {base[-1]:.3f}; gantry is off by {distance(base, own):.2e} at most, another order by "
        f"{distance(base, noise):.2e}; {asked.out}"
    )


if __name__ == "__main__":
    main()
