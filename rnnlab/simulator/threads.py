"""What a grid consists of while it runs: threads, warps, blocks; and `machine`, which knows who runs now."""

import random
from collections.abc import Iterator
from types import FrameType

from rnnlab.simulator.events import Trace
from rnnlab.simulator.findings import Finding
from rnnlab.simulator.places import start_of

WARP = 32


class Dim3:
    """x, y, z of an index or a size."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int, y: int, z: int):
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[int]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


class Thread:
    """One CUDA thread: where it stands in the grid, and what it waits for."""

    __slots__ = (
        "answer", "block", "frame", "greenlet", "index", "lane", "number", "seen", "warp", "what", "x",
    )  # fmt: skip

    def __init__(self, block: "Block", local: int, index: Dim3):
        self.block, self.index = block, index
        self.number = block.first + local  # in the grid, block after block
        self.warp, self.lane = block.warps[local // WARP], local % WARP
        self.x = block.index.x * block.size.x + index.x
        self.greenlet = self.answer = None
        self.frame = self.what = None  # where it waits, and what for
        self.seen = {}  # what it found where it looked for news, see atomics.py

    @property
    def place(self) -> tuple[int, int]:
        """Where it waits, so that it can be compared."""
        return id(self.frame.f_code), start_of(self.frame.f_code, self.frame.f_lasti)

    def stands(self, frame: FrameType, what: str) -> None:
        """It is about to wait there."""
        self.frame, self.what = frame, what


class Warp:
    """Lanes that are alive, and the meetings some of them have come to."""

    __slots__ = ("gathering", "lanes", "meetings")

    def __init__(self, lanes: int):
        self.lanes, self.meetings, self.gathering = (1 << lanes) - 1, {}, {}


class Block:
    """One block: its threads, its shared memory, and who stands at its barrier."""

    def __init__(self, number: int, index: Dim3, size: Dim3):
        self.number, self.index, self.size = number, index, size
        self.threads = size.x * size.y * size.z
        self.first = number * self.threads
        self.alive, self.waiting, self.opened = self.threads, [], 0
        self.shared, self.shared_bytes, self.votes = {}, 0, []
        self.warps = [Warp(min(WARP, self.threads - first)) for first in range(0, self.threads, WARP)]

    def fresh(self, shuffle: random.Random | None) -> Iterator[Thread]:
        """Its threads, made when they start, in order of their number or shuffled."""
        size, order = self.size, range(self.threads)
        if shuffle:
            order = shuffle.sample(order, self.threads)
        for local in order:
            yield Thread(
                self, local, Dim3(local % size.x, local // size.x % size.y, local // (size.x * size.y))
            )


class Stopped(Exception):
    """The launch cannot go on."""

    def __init__(self, finding: Finding):
        self.finding = finding
        super().__init__(str(finding))


class Machine:
    """What runs at this moment: one thread of one launch, written down in a trace or not."""

    __slots__ = ("launch", "now", "trace")

    def __init__(self):
        self.launch = self.now = None
        self.trace: Trace | None = None


machine = Machine()
