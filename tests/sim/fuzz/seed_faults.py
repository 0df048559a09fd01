"""seed_faults.py SOURCES OUT: writes copies of the checker's sources into OUT, each with the faults of FAULTS in it, and
OUT/fault_names.inc with their names. A fault is asleep until gantry::sim::seeded_fault has its number; the product is
built from the sources as they are.

A fault replaces a piece of text that stands in its file once; FAULT stands for "this fault is awake"."""

import sys
from pathlib import Path

FAULTS = [
    ("a join forgets what the other side has seen", "clock.cpp",
     "std::max(a.seen, b.seen)", "(FAULT ? a.seen : std::max(a.seen, b.seen))"),
    ("a join forgets which reads are over", "clock.cpp",
     "std::max(a.passed, b.passed)", "(FAULT ? a.passed : std::max(a.passed, b.passed))"),
    ("a proxy fence of global memory covers shared memory too", "clock.cpp",
     "if (shared) entry.fenced_shared", "if (shared || FAULT) entry.fenced_shared"),
    ("a release of too narrow a scope tells everything", "clock.cpp",
     "    entry.seen = 0;", "    if (!FAULT) entry.seen = 0;"),
    ("threads of other knowledge share the result of an acquire", "clock.cpp",
     "joins_.of(view.base,", "joins_.of(FAULT ? ClockRef() : view.base,"),
    ("a barrier keeps what its first arrival knew alone", "clock.cpp",
     "if (!clock || clock == last_) return;", "if (!clock || clock == last_ || (FAULT && !segments_.empty())) return;"),
    ("fences of the two memories are mixed up", "checker.cpp",
     "space == MemorySpace::shared ? known.fenced_shared", "(space == MemorySpace::shared) != FAULT ? known.fenced_shared"),
    ("writes are taken to be over like reads", "checker.cpp",
     "const bool over = !earlier.write ||", "const bool over = FAULT || !earlier.write ||"),
    ("a copy in flight is taken to have landed", "checker.cpp",
     "if (op.epoch == 0) return Verdict::unordered;", "if (op.epoch == 0) return FAULT ? Verdict::ordered : Verdict::unordered;"),
    ("a read forgets others that it is not ordered after", "checker.cpp",
     "if (covered && (r->same_origin(now) ||", "if (covered && (r->same_origin(now) || FAULT ||"),
    ("a strong write forgets weak accesses", "checker.cpp",
     "if (now.write && !now.strong)", "if (now.write && (!now.strong || FAULT))"),
    ("strong accesses pass each other whatever their size", "checker.cpp",
     "a.size_log != b.size_log", "(!FAULT && a.size_log != b.size_log)"),
    ("strong accesses pass each other whatever their scope", "checker.cpp",
     "return grid_.launches().in_scope(std::min(a.scope, b.scope)",
     "return FAULT || grid_.launches().in_scope(std::min(a.scope, b.scope)"),
    ("an access needs no proxy fence after a read", "checker.cpp",
     "if (fenced < epoch) return", "if (fenced < epoch && (earlier.write || !FAULT)) return"),
    ("a relaxed load acquires", "flags.cpp",
     "acquires(semantics) ? acquire(thread, told)", "acquires(semantics) || FAULT ? acquire(thread, told)"),
    ("what follows a release belongs to it", "flags.cpp",
     "    advance(thread.view);\n    return;", "    if (!FAULT) advance(thread.view);\n    return;"),
    ("a relaxed store releases", "flags.cpp",
     "if (releases(telling.semantics)) {", "if (releases(telling.semantics) || FAULT) {"),
    ("a flag is read across scopes", "flags.cpp",
     "!grid().launches().in_scope(std::min(told.scope, scope), told.cta, own)) continue;",
     "(!FAULT && !grid().launches().in_scope(std::min(told.scope, scope), told.cta, own))) continue;"),
    ("a fence does not acquire what was read before it", "flags.cpp",
     "if (semantics == Semantics::release) return false;", "if (semantics == Semantics::release || FAULT) return false;"),
    ("a relaxed arrival releases", "mbarrier.cpp",
     "if (semantics == Semantics::relaxed) {", "if (semantics == Semantics::relaxed && !FAULT) {"),
    ("an arrival of CTA scope tells another CTA everything", "mbarrier.cpp",
     "if (local || scope != Scope::cta) {", "if (local || scope != Scope::cta || FAULT) {"),
    ("a relaxed wait acquires", "mbarrier.cpp",
     "if (wait.semantics == Semantics::acquire) {", "if (wait.semantics == Semantics::acquire || FAULT) {"),
    ("a relaxed arrival at the cluster barrier releases", "barriers.cpp",
     "if (use.semantics == Semantics::release) {", "if (use.semantics == Semantics::release || FAULT) {"),
    ("a wait for reading covers what is written", "bulk_group.cpp",
     "if (!read_only) builder.raise(", "if (!read_only || FAULT) builder.raise("),
    ("a wait for groups counts one too many", "bulk_group.cpp",
     "builder.raise(groups.read_actor, {.seen = target});",
     "builder.raise(groups.read_actor, {.seen = target + (FAULT ? 1u : 0u)});"),
    ("a wait for cp.async covers every copy", "cp_async.cpp",
     "builder.raise(copies.actor, {.seen = last});", "builder.raise(copies.actor, {.seen = FAULT ? copies.issued : last});"),
    ("threads of other knowledge share the result of a proxy fence", "fences.cpp",
     ".of(view.base,", ".of(FAULT ? ClockRef() : view.base,"),
    ("a proxy fence does not cover its own thread", "fences.cpp",
     "if (shared) view.own.fenced_shared", "if (shared && !FAULT) view.own.fenced_shared"),
]


def main(sources, out):
    texts = {}
    for number, (name, file, old, new) in enumerate(FAULTS, start=1):
        text = texts.setdefault(file, (Path(sources) / file).read_text())
        if text.count(old) != 1:
            sys.exit(f"seed_faults.py: '{old}' stands in {file} {text.count(old)} times; fault '{name}' needs it once")
        texts[file] = text.replace(old, new.replace("FAULT", f"(gantry::sim::seeded_fault == {number})"))
    Path(out).mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (Path(out) / file).write_text("namespace gantry::sim {\nextern int seeded_fault;\n}\n" + text)
    names = "".join(f'"{name}",\n' for name, *_ in FAULTS)
    (Path(out) / "fault_names.inc").write_text(names)


if __name__ == "__main__":
    main(*sys.argv[1:])
