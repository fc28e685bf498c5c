"""Board on which ranks write where they are, and the sentence for ranks that end before their work.

The board is a small file with one line per rank.  It is mapped into memory, so a line costs no system call,
and what a rank wrote last is there after the rank was killed.
"""

import json
import os
import re
import signal
from pathlib import Path

import numpy as np

STARTING, COMPUTING, SUMMING, SAVING, FINISHED = range(1, 6)
PHASES = {  # the end of a sentence
    STARTING: "while it started",
    COMPUTING: "while it computed gradients",
    SUMMING: "while it waited for the sum of the gradients",
    SAVING: "at a checkpoint",
    FINISHED: "after its last step",
}
LINE = np.dtype([("process", "i8"), ("step", "i8"), ("phase", "i8"), ("ranks", "i8"), ("loss", "f8")])


class Board:
    """Lines of all ranks; a phase of 0 is a rank that has not written yet."""

    def __init__(self, path: Path, ranks: int):
        mode = "r+" if path.exists() else "w+"
        self.lines = np.memmap(path, LINE, mode, shape=(ranks,))

    def read(self) -> np.ndarray:
        """All lines [ranks] as they are now."""
        return np.array(self.lines)


class Pen:
    """The line of one rank; without a board, one that is never read."""

    def __init__(self, board: Board | None, rank: int):
        self.line = np.zeros(1, LINE)[:1] if board is None else board.lines[rank : rank + 1]
        self.line["process"] = os.getpid()
        self.write(STARTING, 0, loss=np.nan)  # until a step is done: a run may begin at step 12

    def write(self, phase: int, step: int | None = None, **values: float) -> None:
        """Write this rank's phase, and its step and further values if they have changed."""
        if step is not None:
            self.line["step"] = step
        for name, value in values.items():
            self.line[name] = value
        self.line["phase"] = phase


# what mpiexec prints of the first rank that ended badly; its lines are broken anywhere
SIGNALLED = re.compile(r"process\s+rank\s+(\d+)\s+.*?exited\s+on\s+signal\s+(\d+)", re.DOTALL)
EXITED = re.compile(r"Process name:\s+\[.*?,(\d+)\]\s+Exit code:\s+(\d+)")
MISSING = re.compile(r"Executable:\s+(\S+)")
KINDS = {"ValueError": ValueError, "OSError": OSError, "FloatingPointError": FloatingPointError}


class RankFailure(RuntimeError):
    """Ranks that ended before their work was done; details: what mpiexec and the ranks have printed."""

    details = ""


def failure(folder: Path, lines: np.ndarray, reason: str | None, first_lost: int | None = None) -> Exception:
    """The exception to raise for ranks that ended badly, from the files that they left.

    An error that all ranks report, or that is about what the user requested, keeps its type.
    lines [ranks]: the board.  reason: why the launcher ended them, if it did.  first_lost: the rank whose
    process the launcher missed first.
    """
    output = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    errors = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("error*.json"))]
    if errors:
        return _first_error(errors, output)
    error = RankFailure(_sentence(lines, output, reason, first_lost))
    error.details = output
    return error


def _first_error(errors: list[dict], output: str) -> Exception:
    """The first error that a rank has written, with the rank's number if it is that rank's alone."""
    first = errors[0]
    kind = KINDS.get(first["kind"], RankFailure)
    if kind is RankFailure:
        error = RankFailure(f"rank {first['rank']} failed: {first['kind']}: {first['message']}")
        error.details = first["traceback"] + output
        return error
    return kind(first["message"])


def _sentence(lines: np.ndarray, output: str, reason: str | None, first_lost: int | None) -> str:
    if reason is not None:
        return f"the ranks were ended because {reason}: {_slowest(lines)}"
    if match := SIGNALLED.search(output):
        rank, number = map(int, match.groups())
        hint = (
            "; unless someone killed it, the machine may be out of memory" if number == signal.SIGKILL else ""
        )
        name = {known.value: known.name for known in signal.Signals}.get(number, "unknown")
        how = f"was killed by signal {number} ({name}){hint}"
        return f"rank {rank} {how}. {_when(lines, rank)}The other ranks were ended"
    if match := EXITED.search(output):
        rank, status = map(int, match.groups())
        return f"rank {rank} ended with status {status}: {_last_line(output, rank) or 'it printed nothing'}"
    if match := MISSING.search(output):
        return f"the ranks cannot start: mpiexec finds no program {match.group(1)}"
    if first_lost is not None:  # mpiexec does not always say what it saw
        return (
            f"rank {first_lost} ended without a message. {_when(lines, first_lost)}The other ranks were ended"
        )
    if last := _last_line(output, None):
        return f"the ranks ended without a result; mpiexec's last line: {last}"
    return f"the ranks ended without a message{_progress(lines)}: at least one of them was probably killed"


def _when(lines: np.ndarray, rank: int) -> str:
    line = lines[rank]
    if line["phase"] in (0, STARTING):
        return "It had not begun to train. "
    return f"It was in step {line['step']}, {PHASES[int(line['phase'])]}. "


def _progress(lines: np.ndarray) -> str:
    """How far the ranks were, as a part of a sentence."""
    begun = [line for line in lines if line["phase"] > STARTING]
    if not begun:
        return " before any of them began to train, so nothing is lost and the same command begins again"
    return f" in step {max(line['step'] for line in begun)} or earlier"


def _slowest(lines: np.ndarray) -> str:
    """The rank for which the others wait, as far as the board tells."""
    absent = [rank for rank, line in enumerate(lines) if line["phase"] == 0]
    if absent:
        return f"rank {absent[0]} never started"
    unfinished = [rank for rank, line in enumerate(lines) if line["phase"] != FINISHED]

    def order(rank):
        return (lines[rank]["step"], lines[rank]["phase"] != COMPUTING)

    rank = min(unfinished, key=order, default=0)
    return f"the last one is rank {rank}, in step {lines[rank]['step']}, {PHASES[int(lines[rank]['phase'])]}"


def _last_line(output: str, rank: int | None) -> str:
    """The last line that a rank, or mpiexec, has printed; empty if nothing was printed."""
    tag = re.compile(r"\[[^\]]*,(\d+)\]<std(?:out|err)>: ?(.*)")
    matches = [tag.match(line) for line in output.splitlines()]
    own = [m.group(2) for m in matches if m and int(m.group(1)) == rank and m.group(2).strip()]
    plain = [
        line.strip()
        for line, m in zip(output.splitlines(), matches, strict=True)
        if not m and re.search(r"\w", line)
    ]
    return (own or plain or [""])[-1]
