"""One task in a process of its own: `python -m bench.gpu.child`, the task as JSON on standard input.

Messages go to the parent as they come, a JSON object a line on standard output: what is being done, results
so far, the end.  So a process that hangs, is killed or breaks the CUDA context loses nothing that it had, and
the parent knows which contestant was at work.  Whatever else is printed goes to standard error.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TextIO

os.environ.setdefault("NUMBA_CUDA_ARRAY_INTERFACE_SYNC", "0")  # else Numba waits for the GPU at each argument
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")  # persistent kernels are small on purpose

from bench.gpu import measure
from bench.gpu.references import exact
from bench.peers.serve import end_with_parent
from bench.workload import problem
from rnncourse.records.workload import Measurement, Workload

START = time.monotonic()
BROKEN = 3  # exit status after an error that the CUDA context does not forget


class Messages(measure.Watcher):
    """Sends progress and results to the parent."""

    def __init__(self, pipe: TextIO):
        self.pipe = pipe

    def send(self, **message: Any) -> None:
        """One message.  Raises BrokenPipeError if the parent is gone."""
        self.pipe.write(json.dumps(message) + "\n")
        self.pipe.flush()

    def at(self, entry: str, phase: str) -> None:
        """See measure.Watcher."""
        self.send(at=entry, phase=phase)

    def results(self, results: list[Measurement]) -> None:
        """See measure.Watcher."""
        self.send(fields={"results": [asdict(result) for result in results]})


def measured(task: dict, messages: Messages) -> dict:
    """A workload's results; floors beside them where the task has latencies."""
    workload = Workload(*task["workload"])
    entries = [measure.MeasuredEntry(*entry) for entry in task["entries"]]
    settings = measure.MeasureSettings(**task["settings"])
    until = START + task.get("seconds", math.inf)
    results = measure.measure(workload, entries, settings, messages, until)
    latencies = task.get("latencies") or {}
    if latencies and "left_out" not in latencies:
        from bench.gpu.floors import known, with_floors

        results = with_floors(results, workload, known(latencies))
    references = {entry.dtype: problem(workload, entry.dtype, exact).reference for entry in entries[:1]}
    return {
        "results": [asdict(result) for result in results],
        "reference": next(iter(references.values()), ""),
    }


def latencies(task: dict, messages: Messages) -> dict:
    """What exchanges cost, see latencies.py."""
    from bench.gpu import latencies as exchanges

    messages.at("latencies", "measured")
    return {"latencies": exchanges.measured()}


def depth(task: dict, messages: Messages) -> dict:
    """The residual networks, see depth.py."""
    from bench.gpu import depth as residual

    messages.at("depth", "measured")
    return {"depth": residual.measured()}


def probe(task: dict, messages: Messages) -> dict:
    """One look at the machine, see probes.py."""
    from bench.gpu import probes

    return probes.PROBES[task["probe"]]()


KINDS: dict[str, Callable[[dict, Messages], dict]] = {
    "workload": measured,
    "latencies": latencies,
    "depth": depth,
    "probe": probe,
}


def main() -> int:
    """Run the task; 0, or BROKEN where the CUDA context was lost."""
    end_with_parent()  # or a child of a parent that was killed would hold the GPU
    messages = Messages(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    task = json.load(sys.stdin)
    try:
        fields = KINDS[task["kind"]](task, messages)
    except measure.BrokenDevice as error:
        messages.send(failed=str(error), broken=True)
        return BROKEN
    except Exception as error:  # the parent keeps the reason beside what was measured before
        messages.send(failed=measure.first_line(error))
        return 1
    messages.send(fields=fields, done=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
