"""write_units.py INCLUDE_DIR OUT_DIR LIST: for each header writes the source that compiles it and its examples.

LIST is a file of headers as they are included, `gantry/layout/int.hpp`, between semicolons; the source of that one is
OUT_DIR/gantry/layout/int.hpp.cpp. A source whose text would not change is left alone, so that only edited headers are
compiled again.
"""

import sys
from pathlib import Path

import headers


def main(include_dir, out_dir, names):
    for name in Path(names).read_text().split(";"):
        unit = headers.compilation_unit(Path(include_dir), Path(include_dir) / name)
        out = Path(out_dir) / f"{name}.cpp"
        if not out.exists() or out.read_text() != unit:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(unit)


if __name__ == "__main__":
    main(*sys.argv[1:])
