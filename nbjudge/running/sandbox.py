"""What stands around the learner's process: bubblewrap where it works, limits of the operating system
everywhere.

Under bubblewrap the process has no network, sees no other process, and reads nothing but Python, its packages
and nbjudge/running/inside; all it writes goes to a small folder in memory. Plain mode is for one's own
answers: it limits time and memory, and promises nothing else.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import psutil

from nbjudge.clock import BACKSTOP
from nbjudge.course import current
from nbjudge.printable import printable
from nbjudge.progress_file import home
from nbjudge.running import control_group

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent
INSIDE = PACKAGE / "running" / "inside"
MOUNTED = "/inside"  # where INSIDE stands under bubblewrap
COURSE = "/course"  # where what a kernel needs of the course stands under bubblewrap
START = (
    "import sys, importlib.util as u;"
    "folder, packages, settings = sys.argv[1:];"
    "sys.path.append(packages);"
    "s = u.spec_from_file_location('inside', folder + '/__init__.py', submodule_search_locations=[folder]);"
    "sys.modules['inside'] = u.module_from_spec(s);"
    "from inside.main import main;"
    "main(settings)"
)
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MEMORY = 2 << 30  # bytes of address space, and of memory of all processes of an answer together
SCRATCH = 64 << 20  # bytes of files under bubblewrap, in /tmp and in /dev/shm
LARGEST_FILE = 16 << 20  # bytes
OPEN_FILES = 64
TRIAL = 30  # seconds for bubblewrap to show that it works
PROCESSES = 32
TASKS = PROCESSES + 8 + (os.cpu_count() or 1)  # in a control group: bubblewrap's, and Numba's threads, too
BESIDE = 4 * SCRATCH  # bytes in a control group beside an answer's memory: its two folders, the kernel's own


@dataclass(frozen=True)
class Sandbox:
    """How a worker is started."""

    name: str  # "bubblewrap" or "plain": what the report says
    why: str  # why it is not bubblewrap, in plain mode
    memory: int = MEMORY  # bytes for all processes of an answer together
    patience: int = BACKSTOP  # times its limit: the most that an answer gets for waiting for a core

    @property
    def has_group(self) -> bool:
        """Does a control group of the kernel hold each answer's limits, beside the judge that watches?"""
        return control_group.is_possible()

    @property
    def group_limits(self) -> tuple[int, int]:
        """(bytes, tasks) of a control group: more than the judge allows, who names what was broken."""
        return self.memory + BESIDE, TASKS

    @property
    def limits_by(self) -> str:
        """What holds the limits of memory and processes, as the report says it."""
        return "control group" if self.has_group else "watching"

    @property
    def course(self) -> str:
        """The folder from which a worker loads the simulator."""
        return str(CHECKOUT) if self.name == "plain" else COURSE

    def command(self, settings: str) -> list[str]:
        """The command of a worker with these settings for inside.main."""
        if self.name == "plain":
            return [*_python(), str(INSIDE), str(_packages()), settings]
        return [*_bubblewrap(), *_no_namespaces(), *_python(), MOUNTED, str(_packages()), settings]


def choose(plain: bool = False) -> Sandbox:
    """Bubblewrap if it works on this machine, unless `plain` is chosen."""
    reason = "chosen" if plain else _why_not_bubblewrap()
    return Sandbox("plain", reason) if reason else Sandbox("bubblewrap", "")


def environment() -> dict[str, str]:
    """A worker's whole environment: nothing of the teacher's, and one thread for each product."""
    own = {"LANG": "C.UTF-8", "HOME": "/tmp"}
    return own | dict(current().environment) | dict.fromkeys(ONE_THREAD, "1")


def limits(seconds: float, memory: int = MEMORY) -> dict[str, int]:
    """Limits by the operating system's names, for an answer with so much time and so many bytes."""
    return {
        "AS": memory,
        "CPU": 2 * int(seconds) + 5,  # the judge's own clock stops it sooner; the kernel counts in ticks
        "FSIZE": LARGEST_FILE,
        "NOFILE": OPEN_FILES,
        "NPROC": _tasks_of_this_user() + 2 * PROCESSES,
        "CORE": 0,
    }


def kind_files(box: Sandbox) -> dict[str, str]:
    """Where a worker finds the modules of the course's kind of answers, and the word that tells it."""
    kind = current().kind
    files = {"file": kind.module, "builder": kind.builder}
    return {"word": kind.word} | {name: f"{box.course}/{file}" for name, file in files.items()}


def hidden() -> list[str]:
    """Folders that an answer may not look into."""
    folders = (
        *(CHECKOUT / name for name in (*current().packages, "solutions", "exercises", "tests", "work")),
        home(),
    )
    return [str(folder) for folder in folders]


@cache
def _tasks_of_this_user() -> int:
    """The limit counts what the user runs already. It does not bind root."""
    tasks = (process.info for process in psutil.process_iter(["uids", "num_threads"]))
    return sum(
        info["num_threads"] or 0 for info in tasks if info["uids"] and info["uids"].real == os.getuid()
    )


@cache
def _why_not_bubblewrap() -> str:
    """Empty where bubblewrap works; tried, because it may be there and not be allowed."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    fault = _trial([], f"import sys; sys.path.append({str(_packages())!r}); import numpy")
    return "" if fault is None else printable(f"bubblewrap does not work here: {fault}", 200)


@cache
def _no_namespaces() -> list[str]:
    """Options that let nothing inside make a user namespace, where this bubblewrap and kernel have them."""
    options = ["--disable-userns"]
    return options if _trial(options, "pass") is None else []


def _trial(options: list[str], program: str) -> str | None:
    """What goes wrong with a program under bubblewrap; None where it runs."""
    command = [*_bubblewrap(), *options, *_python(program)]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TRIAL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return trial.stderr.strip() if trial.returncode else None


def _python(program: str = START) -> list[str]:
    """Isolated, and without site: an editable installation would put the course on the path."""
    interpreter = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return [interpreter, "-I", "-S", "-c", program]


def _packages() -> Path:
    return Path(np.__file__).resolve().parents[1]


def _bubblewrap() -> list[str]:
    """Everything of the machine away, then what Python needs given back to read, without the course."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    # first, so that a course that itself lies below /tmp is given back over it
    command += ["--size", str(SCRATCH), "--tmpfs", "/tmp"]
    for folder in ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", os.path.realpath(sys.base_prefix)):
        command += ["--ro-bind-try", folder, folder]
    course = current()
    is_clone = (CHECKOUT / "pyproject.toml").exists()
    packages = [CHECKOUT / name for name in course.packages]
    for folder in [CHECKOUT] if is_clone else packages:
        command += _emptied(folder, command)
    command += ["--ro-bind", str(_packages()), str(_packages())]
    for folder in packages:
        command += _emptied(folder, command)
    for name in (course.kind.module, course.kind.builder, *course.kind.files):
        command += ["--ro-bind", str(CHECKOUT / name), f"{COURSE}/{name}"]
    command += ["--ro-bind", str(INSIDE), MOUNTED, "--proc", "/proc", "--dev", "/dev"]
    command += ["--size", str(SCRATCH), "--tmpfs", "/dev/shm"]
    for folder in ("/dev", *_without_size(command), "/"):  # a file system in memory, as large as half of it
        command += ["--remount-ro", folder]
    return [*command, "--chdir", "/tmp"]


def _without_size(command: list[str]) -> list[str]:
    """The folders hidden by a file system in memory that has no limit of its own."""
    triples = zip(command, command[1:], command[2:], strict=False)
    return [folder for size, word, folder in triples if word == "--tmpfs" and not size.isdigit()]


def _emptied(folder: Path, command: list[str]) -> list[str]:
    """What hides a folder that stands in one given back so far."""
    shown = [path for path, word in zip(command[2:], command, strict=False) if word.startswith("--ro-bind")]
    return ["--tmpfs", str(folder)] if any(folder.is_relative_to(path) for path in shown) else []
