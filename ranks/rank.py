"""What one rank runs: `python -m ranks.rank FOLDER`, started by mpiexec (see launch).

The folder holds program.txt, which names a function; the rank leaves its result or its error there.  An
error on one rank ends all of them: the others would wait for its messages forever.
"""

import importlib
import json
import os
import platform
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

PLAIN = (ValueError, OSError, FloatingPointError)  # errors about what was requested; all others are faults
SHARED_MEMORY = "OMPI_MCA_btl_sm_backing_directory"  # where Open MPI puts it; the launcher chooses the place
POLL = 0.5  # seconds between two tests whether the launcher still runs
BOARD = "board"
PROGRAM = "program.txt"


def pin(cores: list[int]) -> None:
    """Run on these cores only, where the system can; an empty list leaves the choice to it."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def end_with(launcher: int, folder: Path) -> None:
    """End this process soon after the launcher's: it may be killed, and its ranks would compute on."""
    import psutil

    def is_running() -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def watch() -> None:
        while is_running():
            time.sleep(POLL)
        for place in (folder, os.environ.get(SHARED_MEMORY, folder)):  # what the launcher would have removed
            shutil.rmtree(place, ignore_errors=True)
        os._exit(1)

    try:
        process = psutil.Process(launcher)
    except psutil.NoSuchProcess:
        os._exit(1)

    threading.Thread(target=watch, name="watch over the launcher", daemon=True).start()


def write_error(folder: Path, rank: int, error: BaseException) -> None:
    """Leave the error for the launcher."""
    kind = next((kind.__name__ for kind in PLAIN if isinstance(error, kind)), type(error).__name__)
    message = (error.strerror if isinstance(error, OSError) else None) or str(error)
    text = {"rank": rank, "kind": kind, "message": message}
    text["traceback"] = "".join(traceback.format_exception(error))
    beside = folder / f".error{rank}"
    beside.write_text(json.dumps(text), encoding="utf-8")
    beside.replace(folder / f"error{rank}.json")


def run(folder: Path, comm: Any) -> None:
    """Call the function of (folder, comm, pen) that program.txt names as module:function."""
    from ranks.faults import FINISHED, Board, Pen

    rank = comm.Get_rank()
    pen = Pen(Board(folder / BOARD, comm.Get_size()), rank)
    module, _, name = (folder / PROGRAM).read_text(encoding="utf-8").partition(":")
    getattr(importlib.import_module(module), name)(folder, comm, pen)
    pen.write(FINISHED)


def main(folder: Path) -> None:
    """Run as a rank, and end all ranks if that fails."""
    start = json.loads((folder / "start.json").read_text(encoding="utf-8"))
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))  # before MPI can say it: its import may fail
    try:
        if start["host"] == platform.node():  # ranks of other hosts are ended by MPI's daemon there
            end_with(start["launcher"], folder)
        from mpi4py import MPI

        pin(start["cores"][rank])
        run(folder, MPI.COMM_WORLD)
    except BaseException as error:
        write_error(folder, rank, error)
        _abort()
    sys.stdout.flush()
    if start["survive"]:
        os._exit(0)  # MPI's end waits for lost ranks, too


def _abort() -> None:
    """End all ranks, or this one, which mpiexec notices, where MPI has not been imported."""
    if "mpi4py.MPI" in sys.modules:
        sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
