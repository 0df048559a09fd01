#!/usr/bin/env python3
"""Writes include/gantry/arch/generated/wgmma_n*.hpp and wgmma_sp_n*.hpp: the wgmma instruction at every N, dense and sparse.

The instruction lists each accumulator register by number, so its text differs at every N and cannot be composed by a
template. Everything else (types, majors, signs) is text that arch/detail/wgmma_text.hpp chooses.

    tools/generate_wgmma.py            # rewrites the files
    tools/generate_wgmma.py --check    # exit status 1 if they are not what would be written
"""
import argparse
import itertools
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "include/gantry/arch/generated"
WIDTH = 96
# Integer products exist at N = 8, 16, 24 and from 32 in steps of 16.
ALL_N = list(range(8, 257, 8))
INTEGER_N = [8, 16, 24] + list(range(32, 257, 16))


def wrapped(items, indent, separator=", "):
    """The items joined, broken into lines with a macro's trailing backslash."""
    lines, line = [], " " * indent
    for i, item in enumerate(items):
        text = item + (separator.rstrip() if i + 1 < len(items) else "")
        if len(line) + len(text) + 1 > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += text + " "
    lines.append(line.rstrip())
    return " \\\n".join(lines)


def register_text(count):
    """The braces with %0 .. %count-1, as string literals of a macro."""
    numbers = [f"%{i}" for i in range(count)]
    chunks = [numbers[i:i + 16] for i in range(0, count, 16)]
    literals = ['"' + ("{" if i == 0 else "") + ",".join(chunk) + ("}" if i + 1 == len(chunks) else ",") + '"'
                for i, chunk in enumerate(chunks)]
    return " \\\n".join("  " + literal for literal in literals)


def operation(n, name, register, constraint, count, accumulators, sparse):
    """Both forms of one accumulator type at one N: A from shared memory, A from registers."""
    operands = wrapped([f'"+{constraint}"(d[{i}])' for i in range(count)], 2)
    instruction = "mma_async.sp" if sparse else "mma_async"
    # Between B's descriptor and the predicate stand the metadata and its selector.
    extra = 2 if sparse else 0
    extra_text = lambda first: f", %{first}, %{first + 1}" if sparse else ""
    extra_operands = ' "r"(metadata), "n"(Selector),' if sparse else ""
    template = "class Op, int Selector" if sparse else "class Op"
    argument = " std::uint32_t metadata," if sparse else ""
    integers = accumulators == "s32"

    def form(a, a_operands, texts, immediates):
        """The instruction with `a` in the place of A, whose operands follow the accumulators."""
        b = count + len(a_operands)
        predicate = b + 1 + extra
        depth, saturated, type_a, type_b = (f"%{predicate + i}" for i in range(1, 5))
        behind = "".join(f"%{predicate + 5 + i}" for i in range(immediates))
        inputs = ", ".join(a_operands)
        return f"""    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{predicate}, 0;\\n"
                 "wgmma.{instruction}.sync.aligned.m64n{n}k{depth}{saturated}.{accumulators}.{type_a}.{type_b} " GANTRY_WGMMA_REGISTERS
                 ", {a}, %{b}{extra_text(b + 1)}, p{behind};\\n}}\\n"
                 : GANTRY_WGMMA_OPERANDS
                 : {inputs}, "l"(b),{extra_operands} "r"(accumulate), {texts});"""

    in_registers = "{" + ",".join(f"%{count + i}" for i in range(4)) + "}"
    ss = form(f"%{count}", ['"l"(a)'], "GANTRY_WGMMA_TYPES" if integers else "GANTRY_WGMMA_SS_TEXTS", 0 if integers else 4)
    rs = form(in_registers, [f'"r"(a[{i}])' for i in range(4)],
              "GANTRY_WGMMA_TYPES" if integers else "GANTRY_WGMMA_RS_TEXTS", 0 if integers else 3)
    return f"""#define GANTRY_WGMMA_REGISTERS \\
{register_text(count)}
#define GANTRY_WGMMA_OPERANDS \\
{operands}
  template <{template}>
  GANTRY_DEVICE __forceinline__ static void {name}({register} (&d)[{count}], std::uint64_t a, std::uint64_t b,{argument}
                                                   int accumulate) {{
{ss}
  }}

  template <{template}>
  GANTRY_DEVICE __forceinline__ static void {name}({register} (&d)[{count}], const std::uint32_t (&a)[4],
                                                   std::uint64_t b,{argument} int accumulate) {{
{rs}
  }}
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
"""


def header(n, sparse):
    kind, name, owner = ("wgmma", "WgmmaInstruction", "wgmma.hpp")
    if sparse:
        kind, name, owner = ("Sparse wgmma", "WgmmaSpInstruction", "wgmma_sparse.hpp")
    parts = [f"""// {kind} with N = {n}. Written by tools/generate_wgmma.py; included by arch/{owner} alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {{

template <>
struct {name}<{n}> {{
""", operation(n, "issue", "float", "f", n // 2, "f32", sparse), "\n",
             operation(n, "issue_f16", "std::uint32_t", "r", n // 4, "f16", sparse)]
    if n in INTEGER_N:
        parts += ["\n", operation(n, "issue_s32", "std::uint32_t", "r", n // 2, "s32", sparse)]
    parts.append("""};

}  // namespace gantry::arch::detail
""")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    stale = []
    for n, sparse in itertools.product(ALL_N, (False, True)):
        path, text = FOLDER / f"wgmma_{'sp_' if sparse else ''}n{n}.hpp", header(n, sparse)
        if check:
            if not path.exists() or path.read_text() != text:
                stale.append(path.name)
        else:
            path.write_text(text)
    if stale:
        print("not what tools/generate_wgmma.py writes:", ", ".join(stale), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
