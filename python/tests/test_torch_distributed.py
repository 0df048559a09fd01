"""Sharded layers of gantry.torch over two processes, against the same on one: what distributed_worker.py computes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("this torch has no gloo: sharded layers are not tested here", allow_module_level=True)

WORKER = Path(__file__).with_name("distributed_worker.py")
CHECKS = re.findall(r"@check\ndef (\w+)", WORKER.read_text())


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What both processes said, and how they ended."""
    meeting = tmp_path_factory.mktemp("processes") / "meeting"
    command = [sys.executable, str(WORKER)]
    # One machine, which need not be able to look up its own name.
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    running = [
        subprocess.Popen(
            [*command, str(rank), str(meeting)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for rank in range(2)
    ]
    try:
        texts = [process.communicate(timeout=600)[0] for process in running]
        return [f"{text}\nended with {process.returncode}\n" for text, process in zip(texts, running)]
    finally:
        for process in running:
            process.kill()


@pytest.mark.parametrize("name", CHECKS)
def test_shards_compute_what_one_process_computes(outputs, name):
    both = "\n".join(f"process {rank}: {text}" for rank, text in enumerate(outputs))
    for text in outputs:
        assert f"{name}: ok\n" in text, both
