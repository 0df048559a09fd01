#!/usr/bin/env python3
"""Layers of gantry.torch against PyTorch, eager and compiled, alternating in one process on the same parameters.

    PYTHONPATH=build/release/python bench/gpu/layers_torch.py [--json FILE] [--only TEXT] [--no-compile]

Everything is bf16. Times are medians of five bursts of 12 ms, each after a rest; `sustained` repeats one side for a second at a
time. Results and gradients are compared first, and kernels are compiled before anything is timed. Rows: SwiGLU as one gated GEMM, `Linear` with bias and GELU, an MLP with its
backward pass and each of its GEMMs beside torch's matmul of the same operands, a block of GPT-2 medium's size in training, and
the host's time of a call. Needs a GPU and PyTorch.
"""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

import gantry
import gantry.torch
from gantry import _rules
from gantry.torch import _native

BURST, REST, ROUNDS = 0.012, 0.015, 5
GATED = [(8192, 14336, 4096), (4096, 1408, 2048)]
LINEAR = [(8192, 8192, 8192), (8192, 8192, 1024), (4096, 14336, 4096), (4096, 4096, 14336), (2048, 2048, 2048)]
MLPS = [(8192, 4096, 16384), (8192, 1024, 4096)]


def randn(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / shape[-1] ** 0.25


def calls(run, count):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e-3 / count


def race(contestants, seconds=BURST, rounds=ROUNDS):
    """Seconds of a call of each, by turns."""
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            once = calls(run, 2)
            time.sleep(REST)
            times[name].append(calls(run, max(2, min(5000, int(seconds / once)))))
    return {name: statistics.median(t) for name, t in times.items()}


def host_time(run, count=300):
    """Seconds that the host needs for a call; the device is kept from being the slower one by tiny operands."""
    for _ in range(20):
        run()
    torch.cuda.synchronize()
    turns = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            run()
        turns.append((time.perf_counter() - start) / count)
        torch.cuda.synchronize()
    return statistics.median(turns)


def difference(ours, theirs):
    """The largest difference, over the largest value."""
    ours, theirs = ours.detach().float(), theirs.detach().float()
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-30))


class Report:
    def __init__(self, only, compile):
        self.only, self.compile, self.records = only, compile, []

    def wants(self, kind):
        return kind.startswith(self.only)

    def compiled(self, function):
        return torch.compile(function) if self.compile else None

    def row(self, kind, shape, contestants, error, sustained=True):
        contestants = {name: run for name, run in contestants.items() if run}
        record = {"kind": kind, "shape": shape, "error": error}
        for how, seconds, rounds in (("burst", BURST, ROUNDS), ("sustained", 1.0, 2 if sustained else 0)):
            if not rounds:
                continue
            times = race(contestants, seconds, rounds)
            record[how] = times
            ratios = ", ".join(f"{name} {t * 1e3:.4f} ms ({t / times['ours']:.3f})" for name, t in times.items())
            print(f"{kind} {shape} {how}: {ratios}; error {error:.1e}", flush=True)
        self.records.append(record)


def gated(report):
    text = "d = silu(gate(acc)) * up(acc)"
    for m, hidden, k in GATED:
        x, w = randn(m, k), randn(2 * hidden, k)

        def eager():
            a, b = F.linear(x, w).chunk(2, -1)
            return F.silu(a) * b

        out, plain = torch.empty(m, hidden, device="cuda", dtype=x.dtype), torch.empty(m, 2 * hidden, device="cuda", dtype=x.dtype)
        fused = gantry.plan(x, w, epilogue=text, out=out)
        product = gantry.plan(x, w, out=plain)
        for plan in (fused, product):
            gantry.warm_up(plan, [(m, 2 * hidden, k)])
        fused(x, w, out=out)
        report.row("gated", (m, hidden, k), {
            "ours": lambda: fused(x, w, out=out),
            "our plain GEMM": lambda: product(x, w, out=plain),
            "eager": eager,
            "compiled": report.compiled(eager),
        }, difference(out, eager()))


@torch.no_grad()
def linear(report):
    for m, n, k in LINEAR:
        x, layer = randn(m, k), gantry.torch.Linear(k, n, activation="gelu_tanh", device="cuda", dtype=torch.bfloat16)
        layer.warm_up([(m,)])
        theirs = lambda: F.gelu(F.linear(x, layer.weight, layer.bias), approximate="tanh")
        report.row("linear", (m, n, k), {"ours": lambda: layer(x), "eager": theirs, "compiled": report.compiled(theirs)},
                   difference(layer(x), theirs()))


def mlp(report):
    for m, features, hidden in MLPS:
        layer = gantry.torch.MLP(features, hidden, activation="gelu_tanh", device="cuda", dtype=torch.bfloat16)
        layer.warm_up([(m,)])
        x, g = randn(m, features).requires_grad_(True), randn(m, features)
        parameters = list(layer.parameters())

        def function(x):
            return layer.fc2(F.gelu(F.linear(x, layer.fc1.weight, layer.fc1.bias), approximate="tanh"))

        def theirs_of(function):
            return lambda: torch.autograd.grad(function(x), (x, *parameters), g)

        def forward(x):
            hidden = F.gelu(F.linear(x, layer.fc1.weight, layer.fc1.bias), approximate="tanh")
            return F.linear(hidden, layer.fc2.weight, layer.fc2.bias)

        ours = theirs_of(layer)
        errors = [difference(a, b) for a, b in zip(ours(), theirs_of(forward)())]
        compiled = report.compiled(forward)
        report.row("mlp", (m, features, hidden), {
            "ours": ours, "eager": theirs_of(forward), "compiled": theirs_of(compiled) if compiled else None,
        }, max(errors))


@torch.no_grad()
def parts(report):
    """The GEMMs of an MLP's forward and backward pass. Theirs compute less: no activation, its derivative, nor the bias."""
    ops, code = torch.ops.gantry, _rules.activation_code("gelu_tanh")
    for m, features, hidden in MLPS:
        x, g, h = randn(m, features), randn(m, features), randn(m, hidden)
        w1, b1, w2, b2 = randn(hidden, features), randn(hidden), randn(features, hidden), randn(features)
        pairs = {
            "linear_kept": (lambda: ops.linear_kept(x, w1, b1, code)[1], lambda: F.linear(x, w1, b1)),
            "linear": (lambda: ops.linear(h, w2, b2, 0), lambda: F.linear(h, w2, b2)),
            "dgrad without activation": (lambda: ops.input_grad(g, w2), lambda: g @ w2),
            "dgrad": (lambda: ops.dgrad(g, w2, h, code)[0], lambda: torch.ops.aten.gelu_backward(g @ w2, h, approximate="tanh")),
            "input_grad": (lambda: ops.input_grad(h, w1), lambda: h @ w1),
            "weight_grad": (lambda: ops.weight_grad(h, x), lambda: h.T @ x),
        }
        for name, (ours, theirs) in pairs.items():
            error = difference(ours(), theirs())
            report.row(f"parts {name}", (m, features, hidden), {"ours": ours, "torch": theirs}, error, sustained=False)
        print(gantry.explain(x, w1, epilogue=_rules.forward_text(True, "gelu_tanh", keep="bf16"), bias=b1), flush=True)


class Block(torch.nn.Module):
    """A layer of GPT-2 medium: attention and MLP with layer norms before them."""

    def __init__(self, features=1024, heads=16):
        super().__init__()
        n = torch.nn
        self.heads = heads
        self.norm1, self.norm2 = n.LayerNorm(features), n.LayerNorm(features)
        self.qkv, self.out = n.Linear(features, 3 * features), n.Linear(features, features)
        self.mlp = n.Sequential(n.Linear(features, 4 * features), n.GELU(approximate="tanh"), n.Linear(4 * features, features))

    def forward(self, x):
        batch, tokens, features = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, features))
        return x + self.mlp(self.norm2(x))


def block(report):
    torch.manual_seed(0)
    theirs = Block().to("cuda", torch.bfloat16)
    ours = Block().to("cuda", torch.bfloat16)
    ours.load_state_dict(theirs.state_dict())
    print(gantry.torch.replace(ours), flush=True)
    gantry.warm_up(ours, [(8192,)])
    x = randn(8, 1024, 1024)

    def step_of(module, called):
        def step():
            called(x).square().mean().backward()
            for p in module.parameters():
                p.grad = None
        return step

    error = difference(ours(x), theirs(x))
    report.row("block", (8, 1024, 1024), {
        "ours": step_of(ours, ours),
        "ours compiled": step_of(ours, torch.compile(ours)) if report.compile else None,
        "eager": step_of(theirs, theirs),
        "compiled": step_of(theirs, torch.compile(theirs)) if report.compile else None,
    }, error)


def host(report):
    print(f"operators are {'Python' if _native.why_not else 'C++'}'s {_native.why_not}", flush=True)
    x, layer = randn(64, 256), gantry.torch.Linear(256, 256, device="cuda", dtype=torch.bfloat16)
    for grad in (False, True):
        with torch.set_grad_enabled(grad):
            ours = host_time(lambda: gantry.torch.linear(x, layer.weight, layer.bias))
            theirs = host_time(lambda: F.linear(x, layer.weight, layer.bias))
        report.records.append({"kind": "host", "grad": grad, "ours": ours, "F.linear": theirs})
        print(f"host {'with' if grad else 'no'} grad: ours {ours * 1e6:.1f} us, F.linear {theirs * 1e6:.1f} us", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--only", default="", help="rows whose line begins with this: gated, linear, mlp, parts, block, host")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    arguments = parser.parse_args()
    report = Report(arguments.only, not arguments.no_compile)
    for kind in (host, gated, linear, mlp, parts, block):
        if report.wants(kind.__name__):
            try:
                kind(report)
            except Exception as error:  # the next rows are worth their time
                print(f"{kind.__name__}: {type(error).__name__}: {error}", flush=True)
                report.records.append({"kind": kind.__name__, "failed": str(error), "error": float("inf")})
            torch.cuda.empty_cache()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report.records, file, indent=2)
    return 1 if any(r.get("error", 0) > 3e-2 for r in report.records) else 0


if __name__ == "__main__":
    sys.exit(main())
