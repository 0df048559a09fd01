"""Measures what Gantry's headers cost to compile, with every compiler on this machine, and prints a table.

  measure.py INCLUDE_DIR [--kernels] [--repeat N] [--nvcc PATH] [compiler...]     compilers: g++ clang++ nvcc; all found, unless named

Each figure is processor seconds of user and system, the best of N runs; still, a busy machine shows up to a third more, for
two programs share a core. "alone" is what the whole file takes; "added" is what the row adds to the row it builds on: the header
to an empty file, layouts to the header, and compositions to the layouts they compose.
"""

import argparse
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

COMPOSITIONS = 1000
SEED = 20240229
CHOICE = "#include <gantry/gemm/choice.hpp>"
GOALS = {("g++ -O0 -c", CHOICE): 0.4}  # in seconds; kernels have theirs below


@dataclass(frozen=True)
class Row:
    title: str
    source: str
    added_to: str  # title of another row, or ""


def power_of_two_layout(rng, bits, modes):
    """Extents and strides of a layout of 2**bits elements: random powers of two, compact, in random order."""
    cuts = sorted(rng.sample(range(1, bits), modes - 1))
    extents = [b - a for a, b in zip([0, *cuts], [*cuts, bits])]
    strides, done = [0] * modes, 0
    for mode in rng.sample(range(modes), modes):
        strides[mode] = done
        done += extents[mode]
    return [f"_{2**e}" for e in extents], [f"_{2**s}" for s in strides]


def made(layout):
    return "make_layout(make_shape({}), make_stride({}))".format(*map(",".join, layout))


def as_text(layout):
    return 'layout("({}):({})")'.format(*map(",".join, layout))


def plan(i):
    """A multicast load of a tile in swizzled slabs, its global tensor known only at run time; another tile for each i."""
    rows, slab = 8 * (8 + i), 64 * 8 * (8 + i)
    return f"""
constexpr ComposedLayout tile{i}(Swizzle(3, 4, 3), _0, layout("(_{rows},(_64,_2)):(_64,(_1,_{slab}))"), 16);
constexpr TmaPlan plan{i} = plan_structure({{.op = TmaOp::load_multicast,
    .gtensor = {{.element = ElementType::bf16, .layout = layout("(?,?,?):(?,_1,?)")}}, .smem = tile{i},
    .cta_tiler = make_tile(Int::fixed({rows}), _128), .num_multicast = 2}});
static_assert(plan{i}.ok() && TmaTileWalk(plan{i}).at(1).shared_offset == {2 * slab});
"""


def rows():
    rng = random.Random(SEED)
    operands = [
        (power_of_two_layout(rng, 13, rng.randint(2, 4)), power_of_two_layout(rng, rng.randint(6, 13), rng.randint(2, 4)))
        for _ in range(COMPOSITIONS)
    ]

    def layouts(write):
        return "".join(
            f"constexpr auto a{i} = {write(a)};\nconstexpr auto b{i} = {write(b)};\n" for i, (a, b) in enumerate(operands)
        )

    include = "#include <gantry/layout.hpp>\n"
    using = include + "using namespace gantry;\n"
    tma = "#include <gantry/layout/parse.hpp>\n#include <gantry/tma.hpp>\n"
    compositions = "".join(
        f"constexpr auto c{i} = composition(a{i}, b{i});\nstatic_assert(c{i}.ok());\n" for i in range(COMPOSITIONS)
    )
    return [
        Row("an empty file", "\n", ""),
        Row("#include <gantry/layout.hpp>", include, "an empty file"),
        Row("2,000 layouts by make_layout", using + layouts(made), "#include <gantry/layout.hpp>"),
        Row("1,000 compositions of them", using + layouts(made) + compositions, "2,000 layouts by make_layout"),
        Row("2,000 layouts from text", using + layouts(as_text), "#include <gantry/layout.hpp>"),
        Row("#include <gantry/tma.hpp>", tma, "an empty file"),
        Row("10 TMA plans", tma + "using namespace gantry;\n" + "".join(map(plan, range(10))), "#include <gantry/tma.hpp>"),
        Row(CHOICE, CHOICE + "\n", "an empty file"),
    ]


# Whole kernels, as they are shipped. The epilogue's graph has five nodes: acc, bias, +, gelu, and what goes to D.
EPILOGUE_KERNEL = """
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>
struct Config {
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.schedule = gantry::EpilogueSchedule::tma_warp_specialized_cooperative,
                                .tile = {128, 128, 64},
                                .c = gantry::ElementType::bf16,
                                .d = gantry::ElementType::bf16}
          .policy();
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + c + row(bias))");
  using Functions = gantry::fusion::UserFunctions<>;
};
using Kernel = gantry::EpilogueKernel<Config>;
"""
FUSED_PRODUCT = """
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>
struct BiasGelu {
  static constexpr gantry::GemmOptions options{
      .schedule = gantry::GemmSchedule::cooperative, .epilogue = {.epi_n = 32, .stages_c = 2, .stages_d = 2}};
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
};
using Kernel = gantry::GemmTypes<BiasGelu>::Kernel;
"""
GEMM = """
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>
struct BiasGelu {
  static constexpr gantry::GemmOptions options{.schedule = gantry::GemmSchedule::cooperative};
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
};
using Gemm = gantry::Gemm<BiasGelu>;
bool run(const Gemm::Arguments& args, cudaStream_t stream) { const auto plan = Gemm::plan(args); return plan && plan->run(gantry::Gpu{stream}); }
"""
LINKED = "#define GANTRY_LINKED\n"  # planning is linked, not compiled
SET = """
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>
template <int n>
struct BiasGelu {
  static constexpr gantry::GemmOptions options{.tile = {.m = 128, .n = n}, .schedule = gantry::GemmSchedule::cooperative};
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
};
using Gemm = gantry::GemmSet<BiasGelu<256>, BiasGelu<128>>;
bool run(const Gemm::Arguments& args, cudaStream_t stream) { const auto plan = Gemm::plan(args); return plan && plan->run(gantry::Gpu{stream}); }
"""
ALONE = """
#include <gantry/arch/kernel_entry.hpp>
const void* kernel() { return reinterpret_cast<const void*>(gantry::detail::kernel_entry<Kernel>); }
"""
LAUNCHED = """
#include <gantry/arch/launch.hpp>
bool run(const gantry::LaunchConfig& config, const Kernel::Params& params, cudaStream_t stream) {
  return gantry::launch(gantry::Gpu{stream}, config, Kernel{}, params).ok();
}
"""
KERNELS = [  # and the goal, in seconds
    (Row("an empty file", "\n", ""), None),
    (Row("epilogue with C, bias, gelu", EPILOGUE_KERNEL + ALONE, ""), 5),
    (Row("the same and its launch", EPILOGUE_KERNEL + LAUNCHED, ""), 5),
    (Row("product with bias, gelu", FUSED_PRODUCT + ALONE, ""), 6),
    (Row("the same and its launch", FUSED_PRODUCT + LAUNCHED, ""), 6),
    (Row("the same through Gemm", GEMM, ""), None),
    (Row("through Gemm, planning linked", LINKED + GEMM, ""), 6),
    (Row("a set of two tiles, linked", LINKED + SET, ""), 9),
]


def commands(include_dir, nvcc, wanted):
    flags = ["-std=c++20", f"-I{include_dir}"]
    known = {
        "g++": [("g++ -fsyntax-only", ["g++", "-fsyntax-only", *flags]), ("g++ -O0 -c", ["g++", "-O0", "-c", *flags])],
        "clang++": [
            ("clang++ -fsyntax-only", ["clang++", "-fsyntax-only", *flags]),
            ("clang++ -O0 -c", ["clang++", "-O0", "-c", *flags]),
        ],
        "nvcc": [("nvcc -c", [nvcc, "-c", "-x", "cu", "-gencode", "arch=compute_90a,code=sm_90a", *flags])],
    }
    return [pair for name in wanted or known for pair in known[name] if shutil.which(pair[1][0])]


def seconds(command, source, repeat):
    """Processor time of the fastest of several runs."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.cpp"
        path.write_text(source)
        best = float("inf")
        for _ in range(repeat):
            before = spent()
            done = subprocess.run([*command, "-o", f"{folder}/unit.o", path], capture_output=True, text=True)
            best = min(best, spent() - before)
            if done.returncode != 0:
                first = "\n".join((done.stderr or done.stdout).splitlines()[:20])
                sys.exit(f"measure: {' '.join(command)} did not compile the file:\n{first}")
        return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include_dir")
    parser.add_argument("compilers", nargs="*", metavar="compiler", help="g++, clang++ or nvcc")
    parser.add_argument("--kernels", action="store_true", help="only the kernels, with nvcc")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()

    headers = [] if arguments.kernels else commands(arguments.include_dir, arguments.nvcc, arguments.compilers)
    if headers:
        print(f"{'compiler':<22} {'what':<34} {'alone':>8} {'added':>8} {'goal':>8}")
    for title, command in headers:
        alone = {}
        for row in rows():
            alone[row.title] = seconds(command, row.source, arguments.repeat)
            added = f"{alone[row.title] - alone[row.added_to]:6.2f} s" if row.added_to else ""
            goal = f"{GOALS[title, row.title]:6.2f} s" if (title, row.title) in GOALS else ""
            print(f"{title:<22} {row.title:<34} {alone[row.title]:6.2f} s {added:>8} {goal:>8}".rstrip(), flush=True)
    if shutil.which(arguments.nvcc) and (not arguments.compilers or "nvcc" in arguments.compilers):
        command = [arguments.nvcc, "-c", "-x", "cu", "-gencode", "arch=compute_90a,code=sm_90a"]
        command += ["-std=c++20", f"-I{arguments.include_dir}"]
        # -O is for the host's code; the kernel is the same without.
        print(f"{'a whole kernel, by nvcc -c':<32} {'-O3':>8} {'no -O':>8} {'goal':>8}")
        for row, goal in KERNELS:
            spent = [seconds([*command, *flags], row.source, arguments.repeat) for flags in (["-O3"], [])]
            wanted = f"{goal:6.2f} s" if goal else ""
            print(f"{row.title:<32} {spent[0]:6.2f} s {spent[1]:6.2f} s {wanted:>8}", flush=True)


if __name__ == "__main__":
    main()
