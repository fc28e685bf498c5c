"""Thread scheduler.  A CUDA thread that waits gets a greenlet; threads that never wait share one.

A kernel thread runs until it waits or ends.  A thread that waits switches to one that is ready, so a barrier
costs one switch a thread.  Blocks start when no other thread can run, as many as the device can hold; threads
that spin come last.  When no thread can run and some wait, that is a deadlock; the finding lists which wait
where.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from types import FrameType

from greenlet import GreenletExit, getcurrent, greenlet

from pocketgpu.simulator.settings import Limits
from pocketgpu.simulator.threads import (
    Block,
    Dim3,
    LaunchStopped,
    Thread,
    Warp,
    deadlock,
    ended_before_barrier,
    ended_before_grid_barrier,
    machine,
)
from pocketgpu.simulator.trace import Trace

MOST_POLLS = 5_000  # of all spinning threads, one after another without a new value: then it is a deadlock
POLLS_PER_THREAD = 20  # but every spinning thread may poll this often
NEVER = object()  # the value of an element that a thread has not polled


class Launch:
    """A grid that is running."""

    def __init__(
        self,
        function: Callable,
        arguments: Sequence,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        limits: Limits,
        shuffle: random.Random | None = None,
        trace: Trace | None = None,
    ):
        self.function, self.arguments, self.limits = function, arguments, limits
        self.gridDim, self.blockDim = Dim3(*grid), Dim3(*block)
        self.blocks = grid[0] * grid[1] * grid[2]
        self.alive = self.threads = self.blocks * block[0] * block[1] * block[2]  # that have not ended
        self.shuffle, self.trace = shuffle, trace
        blocks = range(self.blocks)  # CUDA promises no order in which blocks start
        self.block_order = shuffle.sample(blocks, self.blocks) if shuffle else blocks
        self.ready, self.spinning = deque(), deque()
        self.open, self.next_block, self.fresh = {}, 0, iter(())
        self.idle_polls = 0  # polls of spinning threads since one read a new value or a thread ended
        self.at_grid_barrier, self.grid_opened, self.gathering = [], 0, False
        self.constants = {}
        self.workers, self.idle = [], []
        self.hub = self.fault = None

    def run(self) -> None:
        """Run every thread to its end.  Raises LaunchStopped on deadlock, and whatever a thread raises."""
        self.hub = getcurrent()
        before = machine.launch, machine.now, machine.trace
        machine.launch, machine.trace = self, self.trace
        try:
            while self.open or self.next_block < self.blocks:
                self._run_next()
        except BaseException:
            self.fault = machine.now  # the thread that was running
            raise
        finally:
            self._end_greenlets()
            machine.launch, machine.now, machine.trace = before

    def _run_next(self) -> None:
        """Resume or start one thread: a ready one, a new one, or one that spins.  Raises LaunchStopped."""
        if self.ready:
            self._resume(self.ready.popleft())
        elif not (self._start() or _release_converged_lanes(self) or self._resume_spinning()):
            raise self._deadlock()

    def _start(self) -> bool:
        """Start the next thread that has not run; the next block's if this one has none left."""
        thread = next(self.fresh, None)
        if thread is None and self._has_room():
            thread = next(self._open_block())
        if thread is None:
            return False
        worker = self.idle.pop() if self.idle else self._worker()
        self._set_running(thread)
        thread.greenlet = worker
        worker.switch(thread)
        return True

    def _has_room(self) -> bool:
        return self.next_block < self.blocks and len(self.open) < self.limits.resident

    def _open_block(self):
        """Start the next block: an iterator over its threads."""
        number = self.block_order[self.next_block]
        block = self.open[number] = Block(number, self.gridDim, self.blockDim)
        self.next_block += 1
        self.fresh = block.fresh(self.shuffle)
        return self.fresh

    def _worker(self) -> greenlet:
        worker = greenlet(self._work)
        worker.gr_context = copy_context()  # it holds NumPy's errstate, by which overflow is no error
        self.workers.append(worker)
        return worker

    def _work(self, thread: Thread) -> None:
        """Run thread after thread in one greenlet; one that waits keeps the greenlet until it ends."""
        function, arguments, me = self.function, self.arguments, getcurrent()
        while True:
            function(*arguments)
            self._end_thread(thread)
            thread = None if self.ready else next(self.fresh, None)
            if thread is None:
                self.idle.append(me)
                thread = self.hub.switch()
            else:
                self._set_running(thread)
                thread.greenlet = me

    def _end_thread(self, thread: Thread) -> None:
        block = thread.block
        if (trace := self.trace) is not None:
            trace.ends += len(trace.events), thread.number
        self.idle_polls = 0
        block.alive -= 1
        self.alive -= 1
        thread.warp.lanes &= ~(1 << thread.lane)
        if block.alive == 0:
            del self.open[block.number]
        if block.waiting:
            _check_left_early(block)
        if thread.warp.collectives:
            _release_waiting_lanes(self, thread.warp)
        if self.at_grid_barrier:
            _check_grid_barrier(self)

    def _set_running(self, thread: Thread) -> None:
        """Make this the thread that runs now."""
        machine.now = thread
        if (trace := self.trace) is not None:
            trace.turns += len(trace.events), thread.number

    def _resume(self, thread: Thread) -> None:
        self._set_running(thread)
        thread.greenlet.switch()

    def wait(self) -> None:
        """Yield until another thread puts this one into `ready`."""
        if not self.ready:
            self.hub.switch()  # new greenlets start there: begun here they would inherit the depth of calls
            return
        thread = self.ready.popleft()
        machine.now = thread
        if (trace := self.trace) is not None:  # as in _resume, without its calls: barriers are many
            trace.turns += len(trace.events), thread.number
        thread.greenlet.switch()

    def wake(self, threads: list[Thread]) -> None:
        """Make these threads ready, in random order if the launch shuffles."""
        if self.shuffle:
            self.shuffle.shuffle(threads)
        self.ready.extend(threads)

    def open_grid_barrier(self, last: Thread | None = None) -> bool:
        """Open the grid's barrier if every thread of every block stands at it; the last one need not wait."""
        _check_grid_barrier(self)
        if len(self.at_grid_barrier) < self.threads:
            return False
        waiting, self.at_grid_barrier = self.at_grid_barrier, []
        self.grid_opened += 1
        self.wake([thread for thread in waiting if thread is not last])
        return True

    def poll(self, frame: FrameType, where: object, value: object, what: str) -> None:
        """Note a poll by the running thread; it spins if the value is the one that it read there last."""
        seen, key = machine.now.seen, (frame.f_lasti, where)
        if seen.get(key, NEVER) == value:
            self.spin(frame, what)
        else:
            seen[key] = value
            machine.now.new_values += where is not None  # a fence by itself is none
            self.idle_polls = 0

    def spin(self, frame: FrameType, what: str) -> None:
        """Let all others run before this thread polls again."""
        thread = machine.now
        thread.wait_at(frame, what)
        self.spinning.append(thread)
        self.hub.switch()

    def _resume_spinning(self) -> bool:
        """Let the next spinning thread poll; False if there is none, or too many polls read nothing new."""
        limit = max(POLLS_PER_THREAD * len(self.spinning), MOST_POLLS)
        if not self.spinning or self.idle_polls > limit:
            return False
        self.idle_polls += 1
        if self.shuffle:
            self.spinning.rotate(self.shuffle.randrange(len(self.spinning)))
        self._resume(self.spinning.popleft())
        return True

    def _deadlock(self) -> LaunchStopped:
        """Deadlock report: threads and the lines where they wait."""
        waiting = [thread for block in self.open.values() for thread in block.waiting] + self.at_grid_barrier
        for block in self.open.values():
            waiting += [t for warp in block.warps for m in warp.collectives.values() for t in m.arrived]
        waiting += self.spinning
        resident = self.limits.resident
        if self.next_block == self.blocks:
            return deadlock(waiting)
        return deadlock(
            waiting,
            f"; block {self.block_order[self.next_block]} has not started: the device holds {resident} of "
            f"the {self.blocks} blocks at once, so launch no more than that if blocks wait for one another",
        )

    def _end_greenlets(self) -> None:
        """End all greenlets: one that lives on would keep the kernel's arguments."""
        for worker in self.workers:
            if worker:
                worker.throw(GreenletExit)


def _check_grid_barrier(launch: Launch) -> None:
    """Raises LaunchStopped if all live threads of the grid wait at a barrier that ended ones cannot reach."""
    waiting = launch.at_grid_barrier
    if 0 < len(waiting) == launch.alive < launch.threads:
        raise ended_before_grid_barrier(waiting, launch.threads - launch.alive)


def _check_left_early(block: Block) -> None:
    """Raises LaunchStopped if all live threads of a block wait at a barrier that ended ones cannot reach."""
    if 0 < len(block.waiting) == block.alive < block.threads:
        raise ended_before_barrier(block.waiting)


def _release_converged_lanes(launch: Launch) -> bool:
    """Give lanes that wait at the same activemask() their mask, when no other thread can run."""
    if not launch.gathering:
        return False
    launch.gathering = False
    gathered = [warp for block in launch.open.values() for warp in block.warps if warp.gathering]
    for warp in gathered:
        for threads in warp.gathering.values():
            mask = sum(1 << thread.lane for thread in threads)
            for thread in threads:
                thread.answer = mask
            launch.wake(threads)
        warp.gathering = {}
    return bool(gathered)


def _release_waiting_lanes(launch: Launch, warp: Warp) -> None:
    """Complete the collectives that waited only for a lane that has ended."""
    for key, collective in list(warp.collectives.items()):
        if len(collective.arrived) == expected_lanes(collective.mask, warp):
            del warp.collectives[key]
            launch.wake(collective.arrived)


def expected_lanes(mask: int, warp: Warp) -> int:
    """Number of lanes of the mask that have not returned."""
    return (mask & warp.lanes).bit_count()
