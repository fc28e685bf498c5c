"""Contestants that would look fast if nobody looked twice; each is named by what it does."""

import os
import sys
import time

import numpy as np

from bench.peers import ladder_rung


def build(network, x, dy, name):
    """A right rung, spoilt in the way that the contestant's name says."""
    step, arrays = ladder_rung.build(network, x, dy, "one_big_gemm")
    steps = []

    def counted():
        steps.append(None)
        if name == "dies_when_timed" and len(steps) > 2:
            sys.exit(print("it cannot continue", file=sys.stderr) or os._exit(3))
        if name == "never_comes_back":
            time.sleep(60)
        if name == "raises_when_timed" and len(steps) > 2:
            raise ArithmeticError("no more")
        return step()

    return counted, lambda outcome: SPOILT.get(name, same)(arrays(outcome), len(steps))


def same(results, steps):
    return results


SPOILT = {
    "is_a_little_wrong": lambda results, steps: results | {"dx": results["dx"] * np.float32(1.0001)},
    "forgets_a_gradient": lambda results, steps: {k: v for k, v in results.items() if k != "bias_hh_l0"},
    "skips_work_when_timed": lambda results, steps: (
        results if steps == 1 else {k: 0 * v for k, v in results.items()}
    ),
    "works_in_float64": lambda results, steps: {k: v.astype("float64") for k, v in results.items()},
    "returns_nothing_finite": lambda results, steps: results | {"y": results["y"] + np.float32(np.nan)},
}
