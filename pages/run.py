"""Lessons with their outputs: each runs once, and again only when it or the code that it uses has changed.

Results lie in build/lessons by a number over the lesson, the packages and the machine, so that a page never
shows what another version computed.  Cells run in an empty folder with an empty progress file, and without
widgets: a view is then its still picture with its table, and the frames that move it on a page.
"""

import hashlib
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from nbjudge.files import ROOT, write_whole
from pages import frames
from rnncourse.lab import crowd, turns
from rnnlab import resources

# a kernel whose messages others of this machine could read warns of it on the terminal, once a lesson
ENCRYPTED = Config({"KernelManager": {"transport_encryption": "auto"}})
PACKAGES = "pocketgpu", "ranks", "nbjudge", "rnnlab", "rnncourse"
STORED = ROOT / "build/lessons"  # lessons with their outputs
WIDGET = "application/vnd.jupyter.widget-view+json"  # moves in a kernel alone
SECONDS = 600  # for one cell: a shared machine may be slow
OWN_FOLDERS = ("RNNLAB_HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


class NotRun(Exception):
    """A lesson whose cells do not all run; names the lesson and the cell's error."""


@dataclass(frozen=True)
class LessonRun:
    """A lesson with outputs, and where and when they were computed."""

    book: nbformat.NotebookNode
    machine: str
    date: str
    seconds: float
    is_stored: bool = False  # it ran before, not now
    others: float = 0.0  # part of the cores' time that went to other programs before and behind the run

    @property
    def is_disturbed(self) -> bool:
        """Whether something else was using the cores: an output says so, or it was seen beside the run."""
        return self.others > crowd.CROWDED or any(turns.OTHERS in text for text in printed(self.book))


def run_lesson(path: Path, folder: Path = STORED) -> LessonRun:
    """A lesson's notebook with outputs, from `folder` where it ran before; NotRun if a cell fails."""
    stored = stored_run(path, folder)
    if not (is_stored := stored.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(stored, nbformat.writes(_execute(path)).encode())
    book = nbformat.read(stored, as_version=4)
    metadata = book.metadata["rnnlab_run"]
    others = metadata.get("others", 0.0)
    return LessonRun(book, metadata["machine"], metadata["date"], metadata["seconds"], is_stored, others)


def stored_run(path: Path, folder: Path) -> Path:
    """Where the outputs of a lesson are kept, for this package and this machine."""
    return folder / f"{path.stem}-{content_number(path)}.ipynb"


def printed(book: nbformat.NotebookNode) -> Iterator[str]:
    """The text of every output, be it printed or shown."""
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            yield output.get("text", "")
            yield from (str(content) for content in output.get("data", {}).values())


def content_number(path: Path) -> str:
    """A number for all that a lesson's outputs follow from: its cells, the package, Python, the machine."""
    numbers = hashlib.sha256(path.read_bytes() + machine().encode())
    files = (file for package in PACKAGES for file in sorted(ROOT.glob(f"{package}/**/*")))
    for file in (*files, ROOT / "pages/frames.py", ROOT / "pages/run.py"):
        if file.suffix in (".py", ".json", ".npz", ".jpg", ".svg", ".cu", ".cuh", ".answers"):
            numbers.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    return numbers.hexdigest()[:16]


def machine() -> str:
    """The computer in words: processor, usable cores, system, Python."""
    cores = resources.usable_cores()
    processor = f"{resources.processor_name()}, {cores} core{('s' if cores > 1 else '')}"
    return f"{processor}, {platform.system()}, Python {platform.python_version()}"


def _execute(path: Path) -> nbformat.NotebookNode:
    """The lesson with outputs, which name no folder of the builder's and show no bar that stands still."""
    book = nbformat.read(path, as_version=4)
    before = crowd.others_part()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, _own_environment(Path(folder)):
        resources_of_run = {"metadata": {"path": folder}}
        client = NotebookClient(
            book, timeout=SECONDS, kernel_name="python3", resources=resources_of_run, config=ENCRYPTED
        )
        try:
            client.execute()
        except CellExecutionError as error:
            raise NotRun(f"{path.name} does not run to its end: {error}") from error
    for cell in book.cells:
        if outputs := cell.get("outputs"):
            cell.outputs = [output for output in outputs if not for_notebooks(output.get("data", {}))]
    date = time.strftime("%Y-%m-%d", time.gmtime())
    seconds = round(time.perf_counter() - begin, 1)
    others = round(max(before, crowd.others_part()), 3)
    metadata = {"machine": machine(), "date": date, "seconds": seconds, "others": others}
    book.metadata["rnnlab_run"] = metadata
    text = nbformat.writes(book).replace(folder, "~").replace(str(ROOT), "~/rnnlab")
    return nbformat.reads(text, as_version=4)


def for_notebooks(data: dict[str, str]) -> bool:
    """Whether an output is a widget, or the style of notebooks that the banner shows."""
    return WIDGET in data or data.get("text/html", "").startswith("<style>")


@contextmanager
def _own_environment(folder: Path) -> Iterator[None]:
    """Variables of a kernel that reads and writes nothing of this user's, and gives frames for widgets."""
    own = {name: str(folder / name.lower()) for name in OWN_FOLDERS}
    startup = folder / "ipythondir/profile_default/startup/frames.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(frames.STARTUP.format(root=str(ROOT)), encoding="utf-8")
    own |= {"RNNLAB_WIDGETS": "off", "RNNLAB_CUDA": "simulator"}
    before = dict(os.environ)
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
