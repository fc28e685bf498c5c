"""A Python like the one in a browser tab, as far as imports and the operating system go.

Pyodide has no psutil, Numba, greenlet or CuPy, lacks modules of the standard library that need Unix, starts
no process and no thread.  `python tests/pretended_browser.py 00 01 ...` runs these lessons in such a Python,
cell by cell, and ends with 1 and the cell's own words at the first that fails; cells that need kernels are
left out and counted.  It says nothing about what WebAssembly computes, nor about the front end:
test_browser_lite.py does, where a Pyodide can be had.
"""

import ast
import importlib.abc
import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MISSING = {  # not built for WebAssembly, built for Unix only, or (SciPy) not needed before lesson 06
    "psutil", "scipy", "sklearn", "numba", "llvmlite", "greenlet", "cupy", "torch", "zmq", "mpi4py",
    "fcntl", "resource", "termios", "grp", "pty", "curses", "syslog",
}  # fmt: skip


WITH_KERNELS = ("18",)  # lessons of which cells may be left out


class Absent(importlib.abc.MetaPathFinder):
    """A finder before all others, for which the modules in MISSING do not exist."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def pretend() -> None:
    """Make this process such a Python; NumPy must still be to import."""
    for module in MISSING & {*sys.modules}:
        del sys.modules[module]
    sys.meta_path.insert(0, Absent())
    importlib.util.find_spec = none_if_missing(importlib.util.find_spec)
    sysconfig.get_config_vars()  # reads a file that is named after the platform
    sys.platform = "emscripten"
    sys.path.insert(0, str(ROOT))
    subprocess._can_fork_exec = False  # as the standard library decides by sys.platform when it is imported
    threading.Thread.start = refuse_thread
    os.cpu_count = lambda: 1
    for name in ("fork", "sched_getaffinity", "posix_spawn"):
        if hasattr(os, name):
            delattr(os, name)


def none_if_missing(find_spec: Callable) -> Callable:
    """importlib.util.find_spec, which answers None for the missing, as a browser's does."""
    return lambda name, package=None: None if name.split(".")[0] in MISSING else find_spec(name, package)


def refuse_thread(self: threading.Thread) -> None:
    """Raise what Pyodide raises when a thread is started."""
    raise RuntimeError("can't start new thread")


def code_cells(notebook: Path) -> list[str]:
    """The program of each code cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_lesson(lesson: str) -> tuple[float, list[int]]:
    """(seconds in which the cells of a lesson ran, numbers of those left out, which need kernels or what such
    a cell defines); the exception of the first other that fails."""
    import __main__
    from pocketgpu.cuda import CudaMissing

    (notebook,) = ROOT.glob(f"notebooks/{lesson}_*.ipynb")
    begin, undefined, left_out = time.perf_counter(), set(), []
    for number, program in enumerate(code_cells(notebook)):
        try:
            exec(compile(program, f"{notebook.name}, code cell {number}", "exec"), vars(__main__))
        except Exception as error:
            needs_kernels = isinstance(error, CudaMissing) or getattr(error, "name", None) in undefined
            if lesson in WITH_KERNELS and needs_kernels:
                undefined |= names_in(program)
                left_out.append(number)
                continue
            error.add_note(f"in {notebook.name}, code cell {number}:\n{program}")
            raise
    return time.perf_counter() - begin, left_out


def names_in(program: str) -> set[str]:
    """What a cell would have imported or assigned."""
    nodes = [*ast.walk(ast.parse(program))]
    imported = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    return imported | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


if __name__ == "__main__":
    pretend()
    for lesson in sys.argv[1:]:
        seconds, left_out = run_lesson(lesson)
        without = f", without {len(left_out)} cells of kernels" if left_out else ""
        print(f"lesson {lesson} ran as in a browser, {seconds:.0f} s{without}", file=sys.stderr)
