"""Launches that would never end: every loop counts its rounds, and looks at the clock now and then.

A thread that waits by plain loads never gives way, and a GPU's compiler may keep the value in a register and
load it only once:

    while flag[0] == 0: pass

Where its names have not changed since the last look, and it has only loaded since, it never stops; the round
of a for that is not a plain range is one of these names (rewriting.py).  A thread
that counts, too, is known by what it writes down, which is looked at after FIRST seconds, then ever more
seldom, up to every SECONDS.
"""

import sys
import time
from collections.abc import Iterator
from itertools import chain
from types import FrameType

import numpy as np

from pocketgpu.simulator.settings import current
from pocketgpu.simulator.threads import machine
from pocketgpu.simulator.trace import CHUNK, EVENT, KINDS, LOAD, TURN, Trace, opens_event

ROUNDS = 1_000  # of loops between two looks at the clock
GLANCE = 0.02  # seconds of the clock between two questions for the processor's, which cost a system call
FIRST = 0.1  # seconds of the processor before the trace is read
SECONDS = 0.5  # between two readings of the trace; 20,000 loads take 0.1
EVENTS = 20_000  # of one thread in a row, all loads: then it spins
PLACES = 64  # most elements that a spinning thread loads in turn


class SpinningThread(Exception):
    """Raised in a thread that polls by plain loads, and so would never stop."""


class EndlessLaunch(Exception):
    """Raised in a launch that runs for too long, or whose trace grows too long."""


class Clock:
    """When the running thread's turn began, and when the trace is read next."""

    turn: object = None
    began = started = due = glanced = 0.0
    seen: tuple = ()  # the thread's place in the program, its names, and length of the record

    def start(self) -> None:
        """A launch begins."""
        self.turn = None
        self.seen = None, {}, 0
        self.started = time.process_time()
        self.due = self.started + FIRST
        machine.ticks = 0


clock = Clock()


def look_at_the_clock(can_spin: bool = True) -> None:
    """Raise SpinningThread or EndlessLaunch in a launch that would never end."""
    machine.ticks = ROUNDS
    settings = current()
    trace = machine.trace
    if trace is not None and len(trace.entries) > min(CHUNK, settings.events):
        if trace.events() > settings.events:
            raise EndlessLaunch
    if trace is not None and can_spin and is_stuck(trace, sys._getframe(1)):
        raise SpinningThread
    if time.perf_counter() - clock.glanced < GLANCE:
        return
    clock.glanced = time.perf_counter()
    now = time.process_time()
    thread = machine.now
    turn = thread, thread.block.opened, machine.turns
    if turn != clock.turn:
        clock.turn = turn
        clock.began = now
    if trace is not None and now > clock.due:
        clock.due = now + min(SECONDS, now - clock.started)
        if can_spin and spins(trace):
            raise SpinningThread
    if now - clock.began > settings.seconds:
        raise EndlessLaunch


def is_stuck(trace: Trace, frame: FrameType) -> bool:
    """Has the running thread only loaded since the last look, and are its names what they were?"""
    block = machine.now.block
    place = machine.now, block.opened, machine.turns, frame, frame.f_lasti, len(trace.chunks)
    names = dict(frame.f_locals)
    place_before, names_before, first = clock.seen
    clock.seen = place, names, len(trace.entries)
    if place != place_before or not all(_are_same(names_before.get(name), names[name]) for name in names):
        return False
    events = [entry for entry in trace.entries[first:] if opens_event(entry)]
    return bool(events) and all((entry - EVENT) % KINDS == LOAD for entry in events)


def _are_same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, int | float | np.generic) and bool(a == b))


def spins(trace: Trace) -> bool:
    """Does the running thread do nothing but load the same few elements?"""
    last = []
    loads = 0
    places = set()
    for entry in chain(reversed(trace.entries), *(chunk[::-1].tolist() for chunk in trace.chunks[-1:])):
        if type(entry) is not int or entry < TURN:
            last.append(entry)
            continue
        if entry < EVENT or (entry - EVENT) % KINDS != LOAD:
            return False
        places.add((entry, *last))
        last = []
        loads = loads + 1
        if len(places) > PLACES or loads == EVENTS:
            break
    return loads == EVENTS and len(places) <= PLACES


def short_range(*limits: int) -> Iterator[int]:
    """range(*limits), which looks at the clock where it is long."""
    numbers = range(*limits)
    return numbers if len(numbers) <= ROUNDS else chain.from_iterable(_parts(numbers))


def _parts(numbers: range) -> Iterator[range]:
    for first in range(0, len(numbers), ROUNDS):
        look_at_the_clock(can_spin=False)  # the range ends
        yield numbers[first : first + ROUNDS]
