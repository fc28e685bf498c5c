"""Thread scheduler.  A CUDA thread that may wait is a generator; where nothing waits, a thread is a call.

A kernel thread runs until it waits or ends.  It yields the number of a site where it comes to the barrier of
its block, and None where it waits for something else and has noted it.  Blocks start when no other thread can
run, as many as the device can hold; threads that spin come last.  When no thread can run and some wait, that
is a deadlock; the finding lists which wait where.
"""

import random
import sys
from collections import deque
from collections.abc import Callable, Sequence
from math import prod
from types import FrameType

from pocketgpu.simulator.endless import clock, look_at_the_clock
from pocketgpu.simulator.settings import Limits, current
from pocketgpu.simulator.threads import (
    Block,
    Dim3,
    LaunchStopped,
    Thread,
    Warp,
    deadlock,
    different_barriers,
    ended_before_barrier,
    ended_before_grid_barrier,
    machine,
    name_of,
    place_in,
)
from pocketgpu.simulator.trace import CHUNK, END, SITES, Trace, Triple

MOST_POLLS = 5_000  # of all spinning threads, one after another without a new value: then it is a deadlock
POLLS_PER_THREAD = 20  # but every spinning thread may poll this often
NEVER = object()  # the value of an element that a thread has not polled


class RunningGrid:
    """A grid that is running."""

    def __init__(
        self,
        translation: Callable,
        grid: Triple,
        block: Triple,
        limits: Limits,
        shuffle: random.Random | None = None,
        trace: Trace | None = None,
    ):
        self.translation = translation
        self.limits = limits
        self.gridDim = Dim3(*grid)
        self.blockDim = Dim3(*block)
        self.blocks = prod(grid)
        self.places = [place_in(self.blockDim, local) for local in range(prod(block))]
        self.alive = self.threads = self.blocks * len(self.places)  # that have not ended
        self.shuffle = shuffle
        self.trace = trace
        blocks = range(self.blocks)  # CUDA promises no order in which blocks start
        self.block_order = shuffle.sample(blocks, self.blocks) if shuffle else blocks
        self.ready = deque()
        self.spinning = deque()
        self.open = {}
        self.next_block = 0
        self.fresh = iter(())
        self.idle_polls = 0  # polls of spinning threads since one read a new value or a thread ended
        self.hold = current().hold  # polls that come before all else
        self.held = 0  # those that are left
        self.ignored_poll = ""  # the first thread that continued from a loop of polls that read nothing new
        self.at_grid_barrier = []
        self.grid_opened = 0
        self.gathering = False
        self.constants = {}
        self.local_sizes = {}  # site -> bytes of its local array
        self.fault = None

    def run(self, function: Callable, arguments: Sequence, waits: bool) -> None:
        """Run every thread to its end.  Raises LaunchStopped on deadlock, and whatever a thread raises.

        waits: the function makes a generator.
        """
        before = machine.launch, machine.now, machine.trace
        traced = sys.gettrace()
        machine.launch = self
        machine.trace = self.trace
        machine.part = ()
        clock.start()
        if self.translation.textless:
            sys.settrace(self._look_at_each_line)
        try:
            if waits:
                self._run_by_turns(function, arguments)
            else:
                self._run_straight(function, arguments)
        except BaseException:
            self.fault = machine.now  # the thread that was running
            raise
        finally:
            if self.translation.textless:  # else a debugger would hear of it
                sys.settrace(traced)
            machine.launch, machine.now, machine.trace = before
            clock.start()  # which keeps no thread, and none of its names

    def _look_at_each_line(self, frame: FrameType, event: str, argument: object) -> Callable | None:
        """What Python traces in functions without a text, which might never end."""
        if frame.f_code not in self.translation.textless:
            return None
        look_at_the_clock(can_spin=False)
        return self._look_at_each_line

    def _run_straight(self, function: Callable, arguments: Sequence) -> None:
        """Run thread after thread: none waits."""
        trace = self.trace
        while self._has_room():
            for thread in self._open_block():
                machine.now = thread
                if trace is None:
                    function(*arguments)
                    continue
                trace.append(thread.mark)
                function(*arguments)
                trace.append(END + thread.number)
                self._shorten_record()
            self.open.clear()

    def _run_by_turns(self, function: Callable, arguments: Sequence) -> None:
        """Resume or start one thread after another: a ready one, a new one, or one that spins."""
        while self.open or self._has_room():
            if self.held and self.spinning:
                self.held -= 1
                self._advance(self.spinning.popleft())
            elif self.ready:
                self._advance(self.ready.popleft())
            elif (thread := self._start()) is not None:
                machine.go_on(thread)
                thread.generator = function(*arguments)
                self._advance(thread)
            elif not (_release_converged_lanes(self) or self._resume_spinning()):
                raise self._deadlock()

    def _start(self) -> Thread | None:
        """The next thread that has not run; the next block's if this one has none left."""
        thread = next(self.fresh, None)
        if thread is None and self._has_room():
            self.fresh = self._open_block()
            thread = next(self.fresh)
        return thread

    def _has_room(self) -> bool:
        return self.next_block < self.blocks and len(self.open) < self.limits.resident

    def _open_block(self):
        """Start the next block: an iterator over its threads."""
        number = self.block_order[self.next_block]
        block = self.open[number] = Block(number, self.gridDim, self.blockDim, self.places)
        self.next_block += 1
        return block.fresh(self.shuffle)

    def _advance(self, thread: Thread | None) -> None:
        """Let a thread run until it waits.  The last one to come to a barrier continues at once."""
        while thread is not None:
            try:
                site = next(thread.generator)
            except StopIteration:
                self._end_thread(thread)
                return
            thread = None if site is None else self._arrive(thread, site)

    def _arrive(self, thread: Thread, site: int) -> Thread | None:
        """Let a thread wait at the barrier of its block; the thread that continues now, if that opens it."""
        block = thread.block
        self._note_ignored_poll(thread)
        thread.wait_at(site, "syncthreads()")
        block.waiting.append(thread)
        if len(block.waiting) < block.threads:
            if len(block.waiting) == block.alive:
                raise ended_before_barrier(block.waiting)
            return None
        others = self._ordered(_open(block))
        if self.ready:
            self.ready.extend(others)
            return thread
        self._run_block(block, [thread, *others])
        return None

    def _run_block(self, block: Block, threads: list[Thread]) -> None:
        """Run a block, while nothing else is ready, from barrier to barrier as long as all come to the same.

        threads: all of the block, in the order in which they continue.
        """
        generators = [thread.generator for thread in threads]
        while True:
            sites = [*map(next, generators)]  # fewer than threads where one has ended
            first = sites[0] if sites else None
            if first is None or sites.count(first) < len(threads):
                break
            block.opened = block.opened + 1
            block.votes = []
            if self.shuffle:
                threads = [threads[-1], *self._ordered(threads[:-1])]
                generators = [thread.generator for thread in threads]
            else:
                threads.insert(0, threads.pop())
                generators.insert(0, generators.pop())
            self._shorten_record()
        for thread, site in zip(threads, sites, strict=False):
            if site is not None:
                thread.wait_at(site, "syncthreads()")
                block.waiting.append(thread)
        self.ready.extendleft(reversed(threads[len(sites) + 1 :]))  # before those that were woken meanwhile
        if len(sites) < len(threads):
            self._end_thread(threads[len(sites)])
        elif len(block.waiting) == block.threads:
            _open(block)  # raises LaunchStopped: they have come to different barriers

    def _shorten_record(self) -> None:
        if self.trace is not None and len(self.trace.entries) > CHUNK:
            self.trace.events()

    def _end_thread(self, thread: Thread) -> None:
        block = thread.block
        self._note_ignored_poll(thread)
        if (trace := self.trace) is not None:
            trace.append(END + thread.number)
        self.idle_polls = 0
        block.alive -= 1
        self.alive -= 1
        thread.warp.lanes &= ~(1 << thread.lane)
        if block.alive == 0:
            del self.open[block.number]
        if (
            0 < len(block.waiting) == block.alive < block.threads
        ):  # the others can no longer reach the barrier
            raise ended_before_barrier(block.waiting)
        if thread.warp.collectives:
            _release_waiting_lanes(self, thread.warp)
        if self.at_grid_barrier:
            _check_grid_barrier(self)
        self._shorten_record()

    def _note_ignored_poll(self, thread: Thread) -> None:
        """A loop that ends by what it polls does not end after two rounds of polls that read the same."""
        if thread.again:
            if max(thread.again.values()) > 1 and not self.ignored_poll:
                self.ignored_poll = f"{name_of(thread)} on line {SITES[thread.site].line}"
            thread.again = {}

    def _ordered(self, threads: list[Thread]) -> list[Thread]:
        """These threads in the order in which they continue, which is random if the launch shuffles."""
        if self.shuffle:
            self.shuffle.shuffle(threads)
        return threads

    def wake(self, threads: list[Thread]) -> None:
        """Make these threads ready."""
        self.ready.extend(self._ordered(threads))

    def open_grid_barrier(self, last: Thread | None = None) -> bool:
        """Open the grid's barrier if every thread of every block stands at it; the last one need not wait."""
        _check_grid_barrier(self)
        if len(self.at_grid_barrier) < self.threads:
            return False
        waiting = self.at_grid_barrier
        self.at_grid_barrier = []
        self.grid_opened += 1
        self.wake([thread for thread in waiting if thread is not last])
        return True

    def sees_again(self, site: int, where: object, value: object) -> bool:
        """Note a poll by the running thread: is the value the one that it read there last?"""
        seen = machine.now.seen
        again = machine.now.again
        key = (site, where)
        if seen.get(key, NEVER) == value:
            if where is not None:
                self.held += 0 if again else self.hold
                again[key] = again.get(key, 0) + 1
            return True
        seen[key] = value
        if where is not None:  # a fence by itself reads nothing
            machine.now.new_values += 1
            again.clear()
        self.idle_polls = 0
        return False

    def _resume_spinning(self) -> bool:
        """Let the next spinning thread poll; False if there is none, or too many polls read nothing new."""
        limit = max(POLLS_PER_THREAD * len(self.spinning), MOST_POLLS)
        if not self.spinning or self.idle_polls > limit:
            return False
        self.idle_polls += 1
        if self.shuffle:
            self.spinning.rotate(self.shuffle.randrange(len(self.spinning)))
        self._advance(self.spinning.popleft())
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


def _open(block: Block) -> list[Thread]:
    """Open the block's barrier, to which all have come; the threads that waited for the last one."""
    waiting = block.waiting
    block.waiting = []
    first = waiting[0]
    for thread in waiting:
        if thread.site != first.site:
            raise different_barriers(first, thread)
    block.opened = block.opened + 1
    block.votes = []
    return waiting[:-1]


def _check_grid_barrier(launch: RunningGrid) -> None:
    """Raises LaunchStopped if all live threads of the grid wait at a barrier that ended ones cannot reach."""
    waiting = launch.at_grid_barrier
    if 0 < len(waiting) == launch.alive < launch.threads:
        raise ended_before_grid_barrier(waiting, launch.threads - launch.alive)


def _release_converged_lanes(launch: RunningGrid) -> bool:
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


def _release_waiting_lanes(launch: RunningGrid, warp: Warp) -> None:
    """Complete the collectives that waited only for a lane that has ended."""
    for key, collective in list(warp.collectives.items()):
        if len(collective.arrived) == expected_lanes(collective.mask, warp):
            del warp.collectives[key]
            launch.wake(collective.arrived)


def expected_lanes(mask: int, warp: Warp) -> int:
    """Number of lanes of the mask that have not returned."""
    return (mask & warp.lanes).bit_count()
