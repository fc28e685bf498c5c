"""Contestants that die: the name says how and when, as `SIGILL_when_prepared`; those of `never` are right."""

import os
import signal
import sys
import time

from bench.cmu import contestants
from bench.peers import ladder_rung, serve

HOW, _, WHEN = sys.argv[2].partition("_when_")


def die():
    """The death that the name promises."""
    if HOW == "SIGILL":
        signal.raise_signal(signal.SIGILL)
    if HOW == "exits":
        os._exit(7)
    if HOW == "hangs":
        time.sleep(600)
    if HOW == "memory":
        raise MemoryError("Unable to allocate 3. TiB")


def read(fields, arrays):
    """One layer, or the CMU project's problem."""
    return (serve._one_layer if "cell" in fields else contestants.read)(fields, arrays)


def build(*inputs, name):
    """A right contestant that dies in its third step, if its name says so."""
    if WHEN == "prepared":
        die()
    by = {3: (ladder_rung, "one_big_gemm"), 1: (contestants, "numpy batched")}[len(inputs)]
    step, arrays = by[0].build(*inputs, name=by[1])
    steps = []

    def counted():
        steps.append(None)
        if WHEN == "measured" and len(steps) > 2:
            die()
        return step()

    return counted, arrays


if WHEN == "introduced":
    die()
