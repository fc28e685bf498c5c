"""Streams side by side, event by event: who can start, starts; products that run share the multiprocessors.

A compiled loop, for a view that follows a slider through ten thousand launches.
"""

import numpy as np
from numba import njit

LEFT_OVER = 1e-9  # microseconds of an operation that are rounding, not work
PENDING = -1.0  # the end of what has not ended


@njit(cache=True)
def simulate(issued: np.ndarray, queues: tuple, work: tuple, node: float, rates: np.ndarray) -> tuple:
    """Start and end of each operation, in microseconds; all arrays are by place in the plan.

    issued: when the host has issued it; queues, work: see rnnlab.schedule.timeline; node: microseconds
    before its work begins; rates[b]: FLOP per microsecond of b blocks in all.
    """
    (stream, first_wait, waits), (blocks, flops, alone) = queues, work
    places, streams = issued.size, stream.max() + 1
    start, end = np.zeros(places), np.full(places, PENDING)
    following, head = _queues(stream, streams)
    lead, left, speed = np.zeros(streams), np.zeros(streams), np.zeros(streams)
    running, now, done = np.zeros(streams, np.bool_), 0.0, 0
    while done < places:
        until = np.inf
        for s in range(streams):
            index = head[s]
            if index < 0 or running[s] or _must_wait(index, first_wait, waits, end):
                continue
            if issued[index] > now:
                until = min(until, issued[index])
            else:
                start[index], running[s], lead[s], left[s] = now, True, node, alone[index]
        _set_speeds(running, lead, head, blocks, flops, alone, rates, speed)
        step = until - now
        for s in range(streams):
            if running[s]:
                step = min(step, lead[s] if lead[s] > LEFT_OVER else left[s] / speed[s])
        now += step
        for s in range(streams):
            if running[s] and _advance(s, step, lead, left, speed):
                end[head[s]], running[s], head[s] = now, False, following[head[s]]
                done += 1
    return start, end


@njit(cache=True)
def _queues(stream, streams):
    """For each operation the next of its stream, for each stream its first; -1 where there is none."""
    following, head = np.full(stream.size, -1), np.full(streams, -1)
    for index in range(stream.size - 1, -1, -1):
        following[index] = head[stream[index]]
        head[stream[index]] = index
    return following, head


@njit(cache=True)
def _must_wait(index, first_wait, waits, end):
    for k in range(first_wait[index], first_wait[index + 1]):
        if end[waits[k]] == PENDING:
            return True
    return False


@njit(cache=True)
def _set_speeds(running, lead, head, blocks, flops, alone, rates, speed):
    """How fast each stream's operation goes: 1 is as if it were alone."""
    together, movers = 0, 0
    for s in range(running.size):
        if running[s] and lead[s] <= LEFT_OVER:
            together += blocks[head[s]]
            movers += blocks[head[s]] == 0
    for s in range(running.size):
        if running[s] and lead[s] <= LEFT_OVER:
            index = head[s]
            if blocks[index]:
                share = rates[together] * blocks[index] / together
                speed[s] = min(1.0, share * alone[index] / flops[index])
            else:
                speed[s] = 1.0 / movers


@njit(cache=True)
def _advance(s, step, lead, left, speed):
    """Let the stream's operation go on; has it ended?"""
    if lead[s] > LEFT_OVER:
        lead[s] -= step
    else:
        left[s] -= step * speed[s]
    return lead[s] <= LEFT_OVER and left[s] <= LEFT_OVER
