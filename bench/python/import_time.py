"""Seconds to import the package in a fresh interpreter, without NumPy, torch or JAX: the median of several.

PYTHONPATH=build/release/python python bench/python/import_time.py
"""

import statistics
import subprocess
import sys

PROGRAM = "import time; start = time.perf_counter(); import gantry; print(time.perf_counter() - start)"


def main() -> None:
    seconds = [
        float(subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout)
        for _ in range(9)
    ]
    print(
        f"import gantry: {statistics.median(seconds):.3f} s, {min(seconds):.3f} to {max(seconds):.3f}; the aim is 0.3 s"
    )


if __name__ == "__main__":
    main()
