"""A Python like the one in a browser tab, as far as imports and the operating system go.

Pyodide has no psutil, Numba, greenlet or CuPy, lacks modules of the standard library that need Unix, starts
no process and no thread.  `python tests/pretended_browser.py 00 01 ...` runs these lessons in such a Python,
cell by cell without those that say they need more, and ends with 1 and the cell's own words at the first that
fails.  It says nothing about what WebAssembly computes, nor about the front end: test_browser_lite.py does,
where a Pyodide is available.
"""

import ast
import importlib.abc
import importlib.util
import json
import linecache
import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
MISSING = {  # not built for WebAssembly, built for Unix only, or (SciPy) not needed there
    "psutil", "scipy", "sklearn", "numba", "llvmlite", "greenlet", "cupy", "torch", "zmq", "mpi4py", "cuda",
    "fcntl", "resource", "termios", "grp", "pty", "curses", "syslog",
}  # fmt: skip


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


def run_lesson(lesson: str, folder: str = "notebooks") -> float:
    """Seconds in which the cells of a lesson or its exercises ran; the exception of the first that fails."""
    import __main__
    from pages.recorded import needs
    from rnncourse.guesses import Guesses

    (notebook,) = ROOT.glob(f"{folder}/{lesson}_*.ipynb")
    marks, begin = needs(notebook), perf_counter()
    for number, program in enumerate(code_cells(notebook)):
        if program in marks:
            continue
        label = f"{notebook.name}, code cell {number}"
        linecache.cache[label] = len(program), None, program.splitlines(True), label  # as IPython does
        try:
            tree = Guesses().visit(ast.parse(program, label))  # as the banner has IPython do it
            exec(compile(tree, label, "exec"), vars(__main__))
        except Exception as error:
            error.add_note(f"in {label}:\n{program}")
            raise
    return perf_counter() - begin


if __name__ == "__main__":
    pretend()
    for lesson in sys.argv[1:]:
        print(f"lesson {lesson} ran as in a browser, {run_lesson(lesson):.0f} s", file=sys.stderr)
