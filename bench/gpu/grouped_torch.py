#!/usr/bin/env python3
"""Grouped GEMMs against torch._grouped_mm, alternating in one process on the same operands.

    bench/gpu/grouped_torch.py --library build/release/src/library/libgantry.so [--json FILE] [--only TEXT] [--replays 1000]

Rows of all groups lie in one matrix, weights are E x N x K, everything is bf16. Even groups have the same size, uneven
ones random sizes that are multiples of 8. Times are medians of five bursts of 12 ms, each after a rest; every result is
compared with torch's. With --replays a CUDA graph is captured once and replayed with changing offsets, each result
compared. Needs a GPU, PyTorch, and the shared library.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

import torch

# E, rows of all groups, N, K
FORWARD = [
    (8, 32768, 4096, 7168),
    (8, 32768, 7168, 2048),
    (256, 262144, 4096, 6144),
    (64, 65536, 1408, 2048),
    (128, 16384, 1536, 4096),
    (8, 32768, 768, 2048),
    (64, 4096, 2048, 7168),
    (256, 2048, 4096, 7168),
]
# E, rows of K of all groups, M, N
GRADIENTS = [(8, 32768, 4096, 7168), (64, 65536, 1408, 2048)]
BURST, REST = 0.012, 0.015


class Matrix(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_int64), ("batch_stride", ctypes.c_int64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("machine", ctypes.c_int32), ("device", ctypes.c_int32), ("policy", ctypes.c_int32),
        ("most_kernels", ctypes.c_int32), ("most_plans", ctypes.c_int32), ("compile_threads", ctypes.c_int32),
        ("cache_directory", ctypes.c_char_p), ("tuning_file", ctypes.c_char_p), ("shipped", ctypes.c_void_p),
        ("shipped_count", ctypes.c_int32), ("simulated_sms", ctypes.c_int32), ("simulated_seed", ctypes.c_uint64),
        ("simulated_checker", ctypes.c_int32), ("reserved", ctypes.c_int32),
    ]


class GemmOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("a", ctypes.c_char_p), ("b", ctypes.c_char_p), ("c", ctypes.c_char_p),
        ("d", ctypes.c_char_p), ("epilogue", ctypes.c_char_p), ("a_is_m_major", ctypes.c_int32),
        ("b_is_n_major", ctypes.c_int32), ("c_is_column_major", ctypes.c_int32), ("d_is_column_major", ctypes.c_int32),
        ("promote", ctypes.c_int32), ("tile_m", ctypes.c_int32), ("tile_n", ctypes.c_int32), ("cluster_m", ctypes.c_int32),
        ("cluster_n", ctypes.c_int32), ("stages", ctypes.c_int32), ("functions", ctypes.c_void_p),
        ("function_count", ctypes.c_int32), ("groups", ctypes.c_int32),
    ]


class Call(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64),
        ("batch", ctypes.c_int64), ("a", Matrix), ("b", Matrix), ("c", Matrix), ("d", Matrix),
        ("arguments", ctypes.c_void_p), ("argument_count", ctypes.c_int32), ("dependent", ctypes.c_int32),
        ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
        ("group_offsets", ctypes.c_void_p), ("group_counts", ctypes.c_void_p),
    ]


class Gantry:
    NONE, ALONG_M, ALONG_K = 0, 1, 2

    def __init__(self, path, tile=None, cluster=None):
        self.c = ctypes.CDLL(path)
        self.c.gantry_error_message.restype = ctypes.c_char_p
        self.tile, self.cluster = tile, cluster
        self.gemms = {}
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), machine=1, policy=1, simulated_checker=1)
        self.context = ctypes.c_void_p()
        self.check(self.c.gantry_context_create(ctypes.byref(options), ctypes.byref(self.context)))

    def check(self, status):
        if status != 0:
            sys.exit("gantry: " + self.c.gantry_error_message().decode())

    def gemm(self, groups):
        if groups not in self.gemms:
            options = GemmOptions(size=ctypes.sizeof(GemmOptions), groups=groups)
            options.a_is_m_major = options.b_is_n_major = 1 if groups == self.ALONG_K else 0
            if self.tile:
                options.tile_m, options.tile_n = self.tile
            if self.cluster:
                options.cluster_m, options.cluster_n = self.cluster
            gemm = ctypes.c_void_p()
            self.check(self.c.gantry_gemm_create(self.context, ctypes.byref(options), ctypes.byref(gemm)))
            self.gemms[groups] = gemm
        return self.gemms[groups]

    def function(self, groups, sizes, a, b, d, offsets=None):
        """A function that launches the GEMM into the current stream."""
        m, n, k, batch = sizes
        call = Call(size=ctypes.sizeof(Call), m=m, n=n, k=k, batch=batch)
        for name, tensor in (("a", a), ("b", b), ("d", d)):
            setattr(call, name, Matrix(tensor.data_ptr(), -1, -1))
        call.c = Matrix(None, -1, -1)
        call.group_offsets = None if offsets is None else offsets.data_ptr()
        gemm = self.gemm(groups)

        def run():
            call.stream = torch.cuda.current_stream().cuda_stream
            self.check(self.c.gantry_gemm_run(gemm, ctypes.byref(call)))

        run.explain = lambda: self.explain(gemm, call)
        return run

    def explain(self, gemm, call):
        text = ctypes.create_string_buffer(4096)
        self.check(self.c.gantry_gemm_explain(gemm, ctypes.byref(call), text, ctypes.c_size_t(4096), None))
        lines = [line for line in text.value.decode().splitlines() if line.startswith("Kernel: ")]
        return lines[0][len("Kernel: "):].split(". ")[0] if lines else "?"


def sizes_of(groups, rows, even, seed):
    if even:
        return [rows // groups] * groups
    generator = torch.Generator().manual_seed(seed)
    cuts = torch.sort(torch.randint(0, rows // 8 + 1, (groups - 1,), generator=generator)).values.tolist()
    ends = [8 * c for c in cuts] + [rows]
    return [end - begin for begin, end in zip([0] + ends[:-1], ends)]


def offsets_of(sizes):
    out = [0]
    for size in sizes:
        out.append(out[-1] + size)
    return torch.tensor(out, dtype=torch.int32, device="cuda")


def calls(run, count):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e-3 / count


def race(contestants, rounds=5):
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            once = calls(run, 2)
            time.sleep(REST)
            times[name].append(calls(run, max(2, min(2000, int(BURST / once)))))
    return {name: statistics.median(t) for name, t in times.items()}


def error(ours, theirs):
    """The largest difference, over the largest value."""
    ours, theirs = ours.float(), theirs.float()
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-30))


def report(kind, even, shape, sizes, times, wrong, bytes_moved, flops, kernel, records):
    ours, theirs = times["ours"], times["torch"]
    line = (f"{kind} {'even  ' if even else 'uneven'} {shape}: ours {ours * 1e3:.4f} ms, torch {theirs * 1e3:.4f}, "
            f"ratio {theirs / ours:.3f}, {flops / ours / 1e12:.0f} TFLOP/s, {bytes_moved / ours / 1e12:.2f} TB/s, "
            f"error {wrong:.1e}")
    if "dense" in times:
        line += f", {times['dense'] / ours:.3f} of our dense GEMM"
    print(f"{line}; {kernel}", flush=True)
    records.append({"kind": kind, "even": even, "shape": shape, "seconds": times, "error": wrong, "kernel": kernel,
                    "empty_groups": sizes.count(0), "flops": flops, "bytes": bytes_moved})


def forward(gantry, shape, even, records):
    groups, rows, n, k = shape
    sizes = sizes_of(groups, rows, even, seed=groups)
    offsets = offsets_of(sizes)
    a = torch.randn(rows, k, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(groups, n, k, dtype=torch.bfloat16, device="cuda")
    d = torch.empty(rows, n, dtype=torch.bfloat16, device="cuda")
    ours = gantry.function(Gantry.ALONG_M, (rows, n, k, groups), a, b, d, offsets)
    ends = offsets[1:].contiguous()
    theirs = lambda: torch._grouped_mm(a, b.transpose(-2, -1), offs=ends)
    ours()
    torch.cuda.synchronize()  # so that an error is known to be ours
    wrong = error(d, theirs())
    contestants = {"torch": theirs, "ours": ours}
    if even and groups == 8:
        contestants["dense"] = gantry.function(Gantry.NONE, (rows, n, k, 1), a, b, d)
        contestants["dense"]()
    times = race(contestants)
    used = sum(1 for size in sizes if size > 0)
    report("forward", even, shape, sizes, times, wrong, 2.0 * (rows * k + used * n * k + rows * n), 2.0 * rows * n * k,
           ours.explain(), records)


def gradient(gantry, shape, even, records):
    groups, rows, m, n = shape
    sizes = sizes_of(groups, rows, even, seed=groups)
    offsets = offsets_of(sizes)
    a = torch.randn(rows, m, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(rows, n, dtype=torch.bfloat16, device="cuda")
    d = torch.empty(groups, m, n, dtype=torch.bfloat16, device="cuda")
    ours = gantry.function(Gantry.ALONG_K, (m, n, rows, groups), a, b, d, offsets)
    ends = offsets[1:].contiguous()
    theirs = lambda: torch._grouped_mm(a.t(), b, offs=ends)
    ours()
    torch.cuda.synchronize()  # so that an error is known to be ours
    wrong = error(d, theirs())
    times = race({"torch": theirs, "ours": ours})
    report("gradient", even, shape, sizes, times, wrong, 2.0 * (rows * m + rows * n + groups * m * n),
           2.0 * rows * m * n, ours.explain(), records)


def replays(gantry, count):
    """One graph, captured once; offsets change between replays, groups may become empty."""
    groups, rows, n, k = 16, 3000, 512, 256
    a = torch.randn(rows, k, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(groups, n, k, dtype=torch.bfloat16, device="cuda")
    d = torch.empty(rows, n, dtype=torch.bfloat16, device="cuda")
    offsets = offsets_of(sizes_of(groups, rows // 8 * 8, True, 0))
    run = gantry.function(Gantry.ALONG_M, (rows, n, k, groups), a, b, d, offsets)
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    worst = 0.0
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        cuts = torch.sort(torch.randint(0, rows + 1, (groups - 1,), generator=generator)).values
        ends = torch.cat([torch.zeros(1, dtype=torch.int64), cuts, torch.tensor([rows])]).to(torch.int32)
        offsets.copy_(ends)
        d.fill_(float("nan"))
        graph.replay()
        group = torch.bucketize(torch.arange(rows), ends[1:].long(), right=True).cuda()
        probe = torch.randint(0, rows, (64,), generator=generator).cuda()
        expected = torch.einsum("rk,rnk->rn", a[probe].float(), b[group[probe]].float())
        worst = max(worst, error(d[probe], expected))
        if torch.isnan(d).any():
            sys.exit("a replay left rows that were not written")
    print(f"{count} replays of one graph with changing offsets: largest error {worst:.1e}", flush=True)
    if worst > 1e-2:
        sys.exit("a replay is wrong")


def extents(text):
    return tuple(int(x) for x in text.split("x"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="", help="rows whose line begins with this: forward, gradient")
    parser.add_argument("--replays", type=int, default=0)
    parser.add_argument("--tile", type=extents, help="such as 128x256: this tile for every row")
    parser.add_argument("--cluster", type=extents)
    arguments = parser.parse_args()
    gantry = Gantry(arguments.library, arguments.tile, arguments.cluster)
    records = []
    if arguments.replays:
        replays(gantry, arguments.replays)
    for kind, shapes, measure in (("forward", FORWARD, forward), ("gradient", GRADIENTS, gradient)):
        for shape in shapes if kind.startswith(arguments.only) else []:
            for even in (True, False):
                measure(gantry, shape, even, records)
                torch.cuda.empty_cache()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=2)
    return 1 if any(r["error"] > 2e-2 for r in records) else 0


if __name__ == "__main__":
    sys.exit(main())
