"""A child process of the day that has an answer ready, and one fault: RNNLAB_FAULT="STEP:FAULT"."""

import json
import os
import sys
import time

sys.path.insert(0, os.getcwd())

RIGHT = {"seconds": {part: [1e-3, 1e-3] for part in ("forward", "backward", "step")}, "checked": True}
GARBAGE = ["3", '"at"', "[1]", '{"at": 3}', '{"facts": 7}', "\x00{", '{"done": "yes"}']
NONSENSE = {"results": [{"nonsense": 1}], "finding": [3], "gpu": 7, "latencies": 1}
GPU = {"name": "Pretended", "memory": 1, "multiprocessors": 2, "driver": 13000, "runtime": 13000}


def step_of(task):
    """Which step of the day sent this task."""
    if task["kind"] == "probe":
        return f"probe {task['probe']}"
    if "RNNLAB_BEHIND_TOOL" in os.environ:
        return "compute-sanitizer"
    return "small steps" if task["settings"]["rounds"] == 1 else "bench gpu"


def answer(task):
    """What a fine machine answers."""
    if task["kind"] == "probe":
        return {"gpu": GPU, "packages": {}} if task["probe"] == "describe" else {"finding": "works"}
    entries = task["entries"]
    return {"results": [{"name": name, "dtype": number, **RIGHT} for name, _, number in entries]}


def fail(fault):
    """The fault."""
    if fault == "raises":
        sys.exit(print(json.dumps({"failed": "RuntimeError: broken"}), flush=True) or 1)
    if fault == "hangs":
        time.sleep(600)
    if fault == "exits":
        os._exit(7)
    print(*GARBAGE, json.dumps({"facts": NONSENSE, "done": True}), sep="\n", flush=True)
    os._exit(0)


task = json.load(sys.stdin)
at, _, fault = os.environ["RNNLAB_FAULT"].partition(":")
if step_of(task) == at:
    fail(fault)
print(json.dumps({"facts": answer(task), "done": True}), flush=True)
