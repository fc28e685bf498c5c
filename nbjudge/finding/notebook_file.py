"""The text of a notebook's file, whatever the path turns out to be: a pipe, a device, a gigabyte.

A large file is read by a process of its own with a limit on memory: a hundred megabytes of empty lists take
gigabytes as objects. It hands back the cells' sources, their counts and the errors among their outputs.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

LARGEST = 256 << 20  # bytes; a notebook with 100 MB of output is read, a disk image is not
SMALL = 8 << 20  # bytes; up to here its objects cannot take more than some hundred megabytes
MEMORY = 2 << 30  # bytes for reading a larger one
SECONDS = 120  # for reading a larger one
BOM = "\ufeff"
READER = """
import gc, json, resource, sys
gc.disable()  # it would look through millions of lists again and again
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
def errors(outputs):
    outputs = outputs if type(outputs) is list else []
    outputs = [o for o in outputs if type(o) is dict and o.get("output_type") in ("error", "pyerr")][:1]
    texts = [o.get("traceback") for o in outputs]
    texts = ["\\n".join(map(str, text))[:10_000] if type(text) is list else "" for text in texts]
    return [{**o, "evalue": "", "traceback": [text]} for o, text in zip(outputs, texts)]
def sources(cells):
    kept = ("cell_type", "source", "input", "execution_count")
    cells = [cell if type(cell) is dict else {} for cell in cells]
    return [{k: c[k] for k in kept if k in c} | {"outputs": errors(c.get("outputs"))} for c in cells]
try:
    book = json.loads(sys.stdin.buffer.read().decode("utf-8-sig"), parse_int=float)
    if type(book) is dict:
        sheets = book.get("worksheets")
        sheets = sheets if type(sheets) is list else []
        lists = [sheet.get("cells") for sheet in sheets if type(sheet) is dict]
        lists = [book["cells"]] if "cells" in book else lists
        code = sources([cell for cells in lists if type(cells) is list for cell in cells])
        metadata = book.get("metadata")
        info = metadata.get("language_info") if type(metadata) is dict else None
        version = info.get("version") if type(info) is dict else None
        version = version[:20] if type(version) is str else ""
        book = {"cells": code, "metadata": {"language_info": {"version": version}}}
    json.dump(book if type(book) is dict else [], sys.stdout)
except MemoryError:
    sys.exit("it takes too much memory to read")
except (ValueError, RecursionError) as error:
    sys.exit("it is not a notebook: " + str(error)[:200])
"""


class Unusable(Exception):
    """A file that cannot be graded at all: says which, why, and what to do."""


def notebook_text(path: Path) -> str:
    """The JSON text of a notebook's file, reduced to what is read of its cells where it is large."""
    try:
        return _text(path)
    except UnicodeDecodeError as error:
        raise Unusable(
            f"{path} is not a notebook: byte {error.start} is not UTF-8 text. Save it again in JupyterLab."
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unusable(f"{path} cannot be read: {why}.") from None


def _text(path: Path) -> str:
    if not path.exists():
        raise Unusable(f"{path} does not exist.")
    _refuse_what_is_no_file(path, path.stat())
    # should a pipe have taken its place since: opening it must not wait for somebody who writes
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    with open(file, "rb") as book:
        state = os.fstat(file)
        _refuse_what_is_no_file(path, state)
        if state.st_size > SMALL and os.name == "posix":
            return _reduced(path, book)
        text = book.read(SMALL + 1) or b""  # a file of /proc says that it is empty, and may have no end
        if len(text) > SMALL:
            raise Unusable(f"{path} is not a regular file: it is longer than it says.")
        return text.decode("utf-8-sig")


def _refuse_what_is_no_file(path: Path, state: os.stat_result) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise Unusable(f"{path} is a folder; grade takes one notebook.")
    if not stat.S_ISREG(state.st_mode):
        raise Unusable(
            f"{path} is not a regular file but a pipe, a device or a socket; grade takes one notebook."
        )
    if state.st_size > LARGEST:
        raise Unusable(f"{path} is larger than {LARGEST >> 20} MiB. Clear its outputs and save it again.")


def _reduced(path: Path, book) -> str:
    """The same notebook with nothing in its cells but what is read of them."""
    command = [sys.executable, "-I", "-S", "-c", READER, str(MEMORY)]
    try:
        done = subprocess.run(command, stdin=book, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unusable(f"{path} takes too long to read. Clear its outputs and save it again.") from None
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()[:300] or f"its reader ended with {done.returncode}"
        raise Unusable(f"{path} cannot be read: {why}. Clear its outputs and save it again.")
    return done.stdout.decode()
