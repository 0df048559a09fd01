"""compile_examples.py INCLUDE_DIR HEADER -- COMMAND...: compiles the examples of a header, host code and all.

HEADER is the header as it is included, `gantry/arch/launch.hpp`; COMMAND compiles the source that is appended to it. The
exit status is the compiler's.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "structure"))

import headers  # noqa: E402


def main(include_dir, name, *command):
    include = Path(include_dir)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "examples.cu"
        source.write_text(headers.compilation_unit(include, include / name))
        return subprocess.run([*command, "-o", str(Path(folder) / "examples.o"), str(source)]).returncode


if __name__ == "__main__":
    before = sys.argv.index("--")
    sys.exit(main(*sys.argv[1:before], *sys.argv[before + 1 :]))
