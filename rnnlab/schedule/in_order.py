"""Issuing a plan, in integers: along diagonals, and which events its streams need.  Compiled, as nearest.py.

Who waits for whom are hazards.Waits, by the later operation for events, by the earlier one for an order.
"""

import heapq

import numpy as np
from numba import njit


@njit(cache=True)
def by_priority(
    priority: np.ndarray, missing: np.ndarray, first: np.ndarray, later: np.ndarray
) -> np.ndarray:
    """Topological order that prefers small numbers, and among equal ones the plan's own order.

    missing: for how many each operation waits (used up); later[first[i] : first[i + 1]] wait for operation i.
    """
    count = priority.size
    order, ready = np.empty(count, np.int64), [0]
    ready.clear()
    for index in range(count):
        if missing[index] == 0:
            heapq.heappush(ready, priority[index] * count + index)
    for place in range(count):
        index = heapq.heappop(ready) % count
        order[place] = index
        for k in range(first[index], first[index + 1]):
            missing[later[k]] -= 1
            if missing[later[k]] == 0:
                heapq.heappush(ready, priority[later[k]] * count + later[k])
    return order


@njit(cache=True)
def fewest_events(stream: np.ndarray, streams: int, first: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """Of the waits, the places of those that need an event; an operation's latest wait comes first.

    Operation i waits for earlier[first[i] : first[i + 1]], in order, in one of so many streams.
    Each stream keeps a clock of how many operations have certainly finished in every stream; a wait that the
    clock already implies needs no event.
    """
    count, needed = stream.size, [0]
    clocks, done = np.zeros((streams, streams), np.int64), np.empty((count, streams), np.int64)
    place, issued = np.empty(count, np.int64), np.zeros(streams, np.int64)
    for index in range(count):
        clock = clocks[stream[index]]
        for k in range(first[index + 1] - 1, first[index] - 1, -1):
            source = stream[earlier[k]]
            if source != stream[index] and clock[source] < place[earlier[k]]:
                needed.append(k)
                clock[:] = np.maximum(clock, done[earlier[k]])
        issued[stream[index]] += 1
        place[index] = clock[stream[index]] = issued[stream[index]]
        done[index] = clock
    return np.array(needed)[1:]
