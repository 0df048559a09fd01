"""The rules of the tree, read from its text: layers, what may stand where, examples in header comments, links."""

import re
from dataclasses import dataclass
from pathlib import Path

# Each layer may include itself and the layers before it.
LAYERS = ("hardware", "rules", "layout", "numeric", "tensor", "tma", "arch", "atom", "pipeline", "epilogue", "gemm", "runtime")

# What programs with sizes at run time include: made of all layers.
ABOVE_ALL_LAYERS = ("gantry/context.hpp", "gantry/gantry.h")

# Words that only arch/ and config.hpp may use: everything else is the same source on both machines.
MACHINE_WORDS = ("asm", "__asm__", "__CUDA_ARCH__", "sim")

# What headers may not include, however indirectly. Those that plan or choose are for hosts: no kernel. The choice reads designs and
# makes none: the planner of copies and the algebra of layouts would be most of what including it costs.
_KERNELS = ("gemm/frame.hpp", "gemm/mainloop.hpp", "epilogue/collective.hpp", "epilogue/no_smem.hpp")
# Exceptions: plan.hpp launches, and set.hpp is made of plans; epilogue/arguments.hpp asks the collective it is for.
_PLANNING = (
    "alignment",
    "arguments",
    "bind",
    "candidates",
    "check",
    "cost_model",
    "design",
    "explain",
    "grouped",
    "open_options",
    "option_rules",
    "planner",
    "pointer_array",
    "problem",
    "reference",
    "staging",
    "tile_list",
    "tuning",
)
KEPT_OUT = {
    **{f"gemm/{name}.hpp": _KERNELS for name in _PLANNING},
    "runtime/chooser.hpp": _KERNELS,
    # <string> would be two fifths of the time of including it.
    "gemm/choice.hpp": (*_KERNELS, "gemm/design.hpp", "tma/plan.hpp", "layout/layout.hpp", "string"),
}

SOURCE_SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh"}

# How an example opens, and whether its lines go into a function's body or stand at namespace scope.
EXAMPLE_OPENINGS = {"// Example:": True, "// Example at namespace scope:": False}
EXAMPLE_INDENT = "//     "

_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\s\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class Example:
    line: int  # of its first line of code, from 1
    in_function: bool
    code: tuple


def without_comments(text):
    """The text with comments gone and literals emptied, line numbers kept."""

    def blank(match):
        newlines = "\n" * match.group().count("\n")
        return newlines if match.group().startswith("/") else '""' + newlines

    return _COMMENT_OR_STRING.sub(blank, text)


def headers(include_dir):
    return sorted(p for p in (include_dir / "gantry").rglob("*") if p.suffix in SOURCE_SUFFIXES)


def layer_of(name):
    """The layer of `gantry/layout/int.hpp` or `gantry/layout.hpp`; None for a name that is in no layer."""
    first = Path(name).parts[1]
    layer = first if len(Path(name).parts) > 2 else Path(first).stem
    return layer if layer in LAYERS else None


def needs_no_example(name):
    """config.hpp, umbrella headers, and what no user includes."""
    parts = Path(name).parts
    return len(parts) == 2 or "detail" in parts or "generated" in parts


def examples(text):
    found, lines, i = [], text.splitlines(), 0
    while i < len(lines):
        in_function = EXAMPLE_OPENINGS.get(lines[i].strip())
        i += 1
        if in_function is None:
            continue
        start = i
        while i < len(lines) and (lines[i].lstrip().startswith(EXAMPLE_INDENT)):
            i += 1
        found.append(Example(start + 1, in_function, tuple(line.lstrip()[len(EXAMPLE_INDENT) :] for line in lines[start:i])))
    return found


def reached(include_dir, header):
    """Headers that a header of Gantry includes, each with the one that includes it; of others' headers no more than the names."""
    by, todo = {}, [header]
    while todo:
        name = todo.pop()
        for _, target in _INCLUDE.findall((include_dir / name).read_text()):
            if target in by:
                continue
            by[target] = name
            if target.startswith("gantry/") and (include_dir / target).exists():
                todo.append(target)
    return by


def kept_out_problems(include_dir, kept_out=None):
    problems = []
    for header, forbidden in (KEPT_OUT if kept_out is None else kept_out).items():
        by = reached(include_dir, f"gantry/{header}")
        for target in forbidden:
            name = f"gantry/{target}" if target.endswith(".hpp") else target
            if name in by:
                problems.append(f"gantry/{header}: includes <{name}>, through {by[name]}, and may not.")
    return problems


def layering_problems(include_dir):
    problems = []
    for path in headers(include_dir):
        name = path.relative_to(include_dir).as_posix()
        layer = layer_of(name)
        if name in ABOVE_ALL_LAYERS:
            continue
        if layer is None and name != "gantry/config.hpp":
            problems.append(f"{name}: belongs to no layer; a header lives in a folder named after one of {', '.join(LAYERS)}.")
            continue
        allowed = LAYERS[: LAYERS.index(layer) + 1] if layer else ()
        text = path.read_text()
        for match in _INCLUDE.finditer(text):
            mark, target = match.groups()
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            if mark == '"':
                problems.append(f'{where}: includes "{target}"; headers are named from the root: <gantry/...>.')
            elif target.startswith("gantry/") and target != "gantry/config.hpp" and layer_of(target) not in allowed:
                may = ", ".join(allowed) if allowed else "nothing of Gantry"
                problems.append(f"{where}: {layer or 'config.hpp'} includes <{target}>, and may include only {may}.")
    return problems


def machine_word_problems(root, folders):
    words = re.compile(r"\b(" + "|".join(MACHINE_WORDS) + r")\b")
    problems = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCE_SUFFIXES or name.startswith("include/gantry/arch") or name == "include/gantry/config.hpp":
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                for word in words.findall(line):
                    problems.append(f"{name}:{number}: says {word}, which belongs to include/gantry/arch/ alone.")
    return problems


def example_problems(include_dir):
    problems = []
    for path in headers(include_dir):
        name = path.relative_to(include_dir).as_posix()
        found = examples(path.read_text())
        if not found and not needs_no_example(name):
            problems.append(f"{name}: has no example; open it with a comment that holds '// Example:' and lines of '//     code'.")
        problems += [f"{name}:{e.line}: the example holds no code indented as '//     code'." for e in found if not e.code]
    return problems


# Where pages and sources are, and what may name a page in a comment. Everything else in a checkout is built.
TEXT_FOLDERS = ("bench", "cmake", "docs", "examples", "include", "scripts", "src", "tests", "tools")
NAMES_PAGES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake", ".txt"}


def text_files(root, suffixes):
    """Files of the repository with one of these suffixes, those at its root first."""
    found = [*root.glob("*"), *(path for folder in TEXT_FOLDERS for path in (root / folder).rglob("*"))]
    return sorted(path for path in found if path.suffix in suffixes and path.is_file())


def anchors(page):
    """What '#...' may name in a page: its headings, as GitHub spells them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).strip().replace(" ", "-") for title in titles}


def link_problems(root):
    """Links between pages of the repository that lead nowhere, and pages that sources name and that are not there."""
    problems = []
    for page in text_files(root, {".md"}):
        name = page.relative_to(root).as_posix()
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", line):
                if "://" in target:
                    continue
                goal = page.parent / target if target else page
                if not goal.exists():
                    problems.append(f"{name}:{number}: links to {target}, which is not there.")
                elif anchor and goal.suffix == ".md" and anchor not in anchors(goal):
                    problems.append(f"{name}:{number}: links to #{anchor}, which is no heading of {goal.name}.")
    for path in text_files(root, NAMES_PAGES):
        name = path.relative_to(root).as_posix()
        if name.startswith("tests/structure/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for target in re.findall(r"\bdocs/[\w\-/]+\.md\b", line):
                if not (root / target).exists():
                    problems.append(f"{name}:{number}: names {target}, which is not there.")
    return problems


def compilation_unit(include_dir, path):
    """A source that includes the header first and alone, then holds its examples, each in a namespace of its own that no
    other source has.

    The examples keep their lines and columns, so that a compiler's message points into the header. They are short, not
    exemplary in every respect, and clang-tidy leaves them alone.
    """
    name = path.relative_to(include_dir).as_posix()
    found = examples(path.read_text())
    out = [f"#include <{name}>"]
    out += sorted({line.strip() for e in found for line in e.code if line.lstrip().startswith("#include")})
    out.append("// NOLINTBEGIN")
    for number, example in enumerate(found):
        out.append(f"namespace example_{re.sub('[^a-z0-9]', '_', name)}_{number} {{")
        if example.in_function:
            out.append("void example() {")
        out.append(f'#line {example.line} "{path.as_posix()}"')
        indent = " " * len(EXAMPLE_INDENT)
        out += ["" if line.lstrip().startswith("#include") else indent + line for line in example.code]
        out.append("}}" if example.in_function else "}")
    out.append("// NOLINTEND")
    return "\n".join(out) + "\n"
