"""The threads of a grid, all alive at once: a greenlet for each that must wait, one for all that need not.

A kernel thread runs until it waits or ends.  Who waits hands over to whoever is ready, so a barrier costs one
switch a thread.  Blocks start when nobody else can go on, as many as the device can hold; threads that spin
come last.  When nobody is left to run and somebody waits, that is a deadlock, and it is told who waits where.
"""

import random
from collections import deque
from typing import NamedTuple

from greenlet import getcurrent, greenlet

from rnnlab.simulator.events import Trace
from rnnlab.simulator.findings import Finding

WARP = 32
PATIENCE = 1000  # rounds in which all threads only spin, before that counts as a deadlock


class Dim3:
    """x, y, z of an index or a size."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int, y: int, z: int):
        self.x, self.y, self.z = x, y, z

    def __iter__(self):
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


class Thread:
    """One CUDA thread: where it stands in the grid, and what it waits for."""

    __slots__ = ("answer", "at", "block", "greenlet", "index", "lane", "number", "polls", "warp", "x")

    def __init__(self, block: "Block", local: int, index: Dim3):
        self.block, self.index = block, index
        self.number = block.first + local  # in the grid, block after block
        self.warp, self.lane = block.warps[local // WARP], local % WARP
        self.x = block.index.x * block.launch.blockDim.x + index.x
        self.greenlet = self.answer = self.at = None
        self.polls = 0


class Warp:
    """Lanes that are alive, and the meetings some of them have come to."""

    __slots__ = ("gathering", "lanes", "meetings")

    def __init__(self):
        self.lanes, self.meetings, self.gathering = 0, {}, {}


class Block:
    """One block: its threads, its shared memory, and who stands at its barrier."""

    def __init__(self, launch: "Launch", number: int):
        self.launch, self.number = launch, number
        grid, size = launch.gridDim, launch.blockDim
        self.index = Dim3(number % grid.x, number // grid.x % grid.y, number // (grid.x * grid.y))
        self.threads = size.x * size.y * size.z
        self.first = number * self.threads
        self.alive, self.waiting, self.opened = self.threads, [], 0
        self.shared, self.shared_bytes, self.votes = {}, 0, []
        self.warps = [Warp() for _ in range(-(-self.threads // WARP))]
        for local in range(self.threads):
            self.warps[local // WARP].lanes |= 1 << local % WARP

    def fresh(self):
        """Its threads, made when they start, in order of their number."""
        size, order = self.launch.blockDim, range(self.threads)
        if self.launch.shuffle:
            order = self.launch.shuffle.sample(order, self.threads)
        for local in order:
            yield Thread(
                self, local, Dim3(local % size.x, local // size.x % size.y, local // (size.x * size.y))
            )


class Stopped(Exception):
    """The launch cannot go on."""

    def __init__(self, *findings: Finding):
        self.findings = findings
        super().__init__(*map(str, findings))


class Machine:
    """What runs at this moment: one thread of one launch."""

    __slots__ = ("launch", "now", "trace")

    def __init__(self):
        self.launch = self.now = self.trace = None


machine = Machine()


class Limits(NamedTuple):
    """What the device gives a launch: blocks at once, and bytes of shared memory a block."""

    resident: int
    shared: int
    dynamic_shared: int  # of these, asked for at the launch


class Launch:
    """A grid that is running."""

    def __init__(
        self, function, arguments, grid, block, limits: "Limits", seed: int | None, trace: Trace | None
    ):
        self.function, self.arguments, self.trace = function, arguments, trace
        self.gridDim, self.blockDim = Dim3(*grid), Dim3(*block)
        self.blocks = grid[0] * grid[1] * grid[2]
        self.resident, self.shuffle = limits.resident, None if seed is None else random.Random(seed)
        self.ready, self.spinning, self.idle = deque(), deque(), []
        self.open, self.next_block, self.fresh = {}, 0, iter(())
        self.progress, self.at_grid_barrier, self.grid_opened = 0, [], 0
        self.shared_limit, self.dynamic_shared, self.constants = limits.shared, limits.dynamic_shared, {}
        self.hub = self.fault = None

    def run(self) -> None:
        """Run every thread to its end.  Raises Stopped on deadlock, and whatever a thread raises."""
        self.hub = getcurrent()
        before = machine.launch, machine.now, machine.trace
        machine.launch, machine.trace = self, self.trace
        try:
            while self._go_on():
                pass
        except BaseException:
            self.fault = machine.now  # who was running
            raise
        finally:
            machine.launch, machine.now, machine.trace = before

    def _go_on(self) -> bool:
        """Let somebody run; False when all is done."""
        if self.ready:
            self.resume(self.ready.popleft())
        elif self._start() or self._let_gathered_go() or self._let_spinners_go():
            pass
        elif self.open:
            raise Stopped(self._deadlock())
        return bool(self.open) or self.next_block < self.blocks

    def _start(self) -> bool:
        """Start the next thread that has not run; the next block's if this one has none left."""
        thread = next(self.fresh, None)
        if thread is None and self.next_block < self.blocks and len(self.open) < self.resident:
            block = Block(self, self.next_block)
            self.open[block.number] = block
            self.next_block += 1
            self.fresh = block.fresh()
            thread = next(self.fresh)
        if thread is None:
            return False
        worker = self.idle.pop() if self.idle else greenlet(self._work)
        self.turn(thread)
        thread.greenlet = worker
        worker.switch(thread)
        return True

    def _work(self, thread: Thread) -> None:
        """One greenlet: thread after thread, until one waits; then it belongs to that one until it ends."""
        function, arguments, me = self.function, self.arguments, getcurrent()
        while True:
            function(*arguments)
            self._ended(thread)
            thread = None if self.ready else next(self.fresh, None)
            if thread is None:
                self.idle.append(me)
                thread = self.hub.switch()
            else:
                self.turn(thread)
                thread.greenlet = me

    def _ended(self, thread: Thread) -> None:
        block = thread.block
        self.progress += 1
        block.alive -= 1
        thread.warp.lanes &= ~(1 << thread.lane)
        if block.alive == 0:
            del self.open[block.number]
        elif block.waiting:
            self.left_early(block)
        if thread.warp.meetings:
            self.recheck_meetings(thread.warp)
        if self.at_grid_barrier:
            self.open_grid_barrier()

    def turn(self, thread: Thread) -> None:
        """This thread is the one that runs now."""
        machine.now = thread
        if self.trace is not None:
            self.trace.turn(thread.number)

    def resume(self, thread: Thread) -> None:
        """Let a thread that waited go on."""
        self.turn(thread)
        thread.greenlet.switch()

    def wait(self) -> None:
        """Give way until somebody puts this thread into `ready`."""
        if self.ready and not self.shuffle:
            self.resume(self.ready.popleft())
        else:
            self.hub.switch()

    def wake(self, threads: list[Thread]) -> None:
        """These threads may go on."""
        self.progress += 1
        if self.shuffle:
            self.shuffle.shuffle(threads)
        self.ready.extend(threads)

    def spin(self, place: tuple) -> None:
        """Let all others run before this thread looks again."""
        thread = machine.now
        thread.at = place
        self.spinning.append(thread)
        self.hub.switch()

    def _let_spinners_go(self) -> bool:
        if not self.spinning:
            return False
        quiet, seen = 0, self.progress
        while self.spinning and not self.ready:
            for _ in range(len(self.spinning)):
                self.resume(self.spinning.popleft())
            quiet, seen = (quiet + 1, seen) if self.progress == seen else (0, self.progress)
            if quiet > PATIENCE:
                raise Stopped(self._deadlock())
            if next_may_start(self):
                break
        return True

    def _let_gathered_go(self) -> bool:
        """activemask: the lanes that came to the same place while nobody else could move are together."""
        for block in self.open.values():
            for warp in block.warps:
                for place, threads in list(warp.gathering.items()):
                    del warp.gathering[place]
                    mask = sum(1 << thread.lane for thread in threads)
                    for thread in threads:
                        thread.answer = mask
                    self.wake(threads)
        return bool(self.ready)

    def left_early(self, block: Block) -> None:
        """A thread has ended while others of its block stand at a barrier: on a GPU that is undefined."""
        from rnnlab.simulator.barriers import ended_before_barrier

        ended_before_barrier(self, block)

    def recheck_meetings(self, warp: Warp) -> None:
        from rnnlab.simulator.warps import complete_meetings

        complete_meetings(self, warp)

    def open_grid_barrier(self) -> None:
        from rnnlab.simulator.barriers import open_grid_if_complete

        open_grid_if_complete(self)

    def _deadlock(self) -> Finding:
        from rnnlab.simulator.barriers import who_waits

        return who_waits(self)


def next_may_start(launch: Launch) -> bool:
    """Is there a block that waits for nothing but its turn?"""
    return launch.next_block < launch.blocks and len(launch.open) < launch.resident
