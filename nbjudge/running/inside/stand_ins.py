"""What packages need of a notebook's surroundings and do not find in an answer's process, put in its place.

Numba keeps compiled code beside the file of a cell, and there is none: it keeps nothing. An event loop wakes
itself through a pair of sockets, which no answer may have: a pipe does the same. A progress bar of tqdm for
notebooks needs ipywidgets, which a grader may lack: the bar for terminals does the same.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType


class PipeEnd:
    """One end of a pipe, with the methods of a socket that an event loop calls."""

    def __init__(self, descriptor: int):
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        return self.descriptor

    def recv(self, size: int) -> bytes:
        return os.read(self.descriptor, size)

    def send(self, data: bytes) -> int:
        return os.write(self.descriptor, data)

    def close(self) -> None:
        os.close(self.descriptor)


def _keep_no_code(caching: ModuleType) -> None:
    caching.Cache.__new__ = lambda cls, *arguments, **keywords: caching.NullCache()


def _wake_by_a_pipe(selector_events: ModuleType) -> None:
    def make(loop):
        loop._ssock, loop._csock = map(PipeEnd, os.pipe())
        loop._internal_fds += 1
        loop._add_reader(loop._ssock.fileno(), loop._read_from_self)

    selector_events.BaseSelectorEventLoop._make_self_pipe = make


def _draw_no_widgets(notebook: ModuleType) -> None:
    if getattr(notebook, "IProgress", None) is None:
        from tqdm import std

        notebook.tqdm_notebook = notebook.tqdm = std.tqdm
        notebook.tnrange = notebook.trange = std.trange


CHANGES = {
    "numba.core.caching": _keep_no_code,
    "asyncio.selector_events": _wake_by_a_pipe,
    "tqdm.notebook": _draw_no_widgets,
}


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        CHANGES[module.__name__](module)


class _Finder:
    """Finds the modules of CHANGES, and changes them as soon as they are imported."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in CHANGES else None
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Change those modules from here on, whether they are imported already or later."""
    sys.meta_path.insert(0, _Finder)
    for name in CHANGES.keys() & sys.modules.keys():
        CHANGES[name](sys.modules[name])
