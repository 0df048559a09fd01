from typing import Any, Callable

SCALAR: int
ROW: int
COLUMN: int
AUX_IN: int
AUX_OUT: int
REDUCE_SCALAR: int
REDUCE_ROW: int
REDUCE_COLUMN: int
MACHINE_AUTOMATIC: int
MACHINE_GPU: int
MACHINE_SIMULATED: int
COMPILE_BACKGROUND: int
COMPILE_WAIT: int
COMPILE_NEVER: int

class Context:
    simulated: bool
    notes: str
    def __init__(self, **options: Any) -> None: ...
    def wait_for_compilations(self) -> None: ...

class Gemm:
    arguments: tuple[tuple[str, str, int, bool, bool, int], ...]
    elements: tuple[str, str, str, str]
    kernels: int
    def __init__(self, context: Context, **options: Any) -> None: ...
    def warm_up(
        self, sizes: tuple[tuple[int, int, int, int], ...], progress: Callable[[int, int], Any] | None, /
    ) -> None: ...

class Call:
    def __init__(
        self,
        gemm: Gemm,
        sizes: tuple[int, int, int, int],
        strides: tuple[tuple[int, int], ...],
        scales: tuple[tuple[int, int, int], tuple[int, int, int]],
        arguments: tuple[tuple[str, bool, int, int], ...],
        dependent: bool | None = None,
        rows: tuple[int, int] = (0, 0),
        check: bool = False,
    ) -> None: ...
    def run(self, addresses: tuple, stream: int, workspace: int, workspace_bytes: int, /) -> None: ...
    def check(self, addresses: tuple, /) -> None: ...
    def workspace(self, addresses: tuple, /) -> int: ...
    def explain(self, addresses: tuple, /) -> str: ...
    def simulate(self, addresses: tuple, seed: int, trace_file: str | None, /) -> tuple[str, str]: ...

def version() -> int: ...
def element(name: str, /) -> tuple[str, str, int]: ...
def library_path() -> str: ...
def set_error_maker(maker: Callable[..., Exception], /) -> None: ...
def view_dlpack(capsule: Any, /) -> tuple: ...
def view_buffer(object: Any, /) -> tuple: ...
