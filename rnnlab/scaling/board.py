"""Board: one line per rank in a small file, on which ranks write where they are and their launcher reads it.

The file is mapped into memory, so a line costs no system call, and what a rank wrote last is there after the
rank was killed.
"""

import os
from pathlib import Path

import numpy as np

STARTING, COMPUTING, SUMMING, SAVING, FINISHED = range(1, 6)
DOING = {  # as the end of a sentence
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
    """The line of one rank; without a board, one that nobody reads."""

    def __init__(self, board: Board | None, rank: int):
        self.line = np.zeros(1, LINE)[:1] if board is None else board.lines[rank : rank + 1]
        self.line["process"] = os.getpid()
        self.write(STARTING, 0)

    def write(self, phase: int, step: int | None = None, **values: float) -> None:
        """Say what this rank does now."""
        if step is not None:
            self.line["step"] = step
        for name, value in values.items():
            self.line[name] = value
        self.line["phase"] = phase
