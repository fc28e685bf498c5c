"""Answers that change the interpreter, the way back to the judge, or memory that is not theirs."""

import numpy as np

# %% [attack] announces_a_huge_answer
# Announces an answer of an exabyte, for the judge to make room for.
# deserves: too_big
import contextlib
import os
import struct

def running_sum(x):
    for descriptor in range(64):
        with contextlib.suppress(OSError):
            os.write(descriptor, struct.pack("<QQ", 10, 1 << 60))
    return x

# %% [attack] forges_a_passed_status
# Leaves a status in the names that a judge might read.
status = "passed"
points = 100
__verdict__ = True

def running_sum(x):
    return x * 0

# %% [attack] forges_an_answer_on_the_wire
# Writes a verdict of its own to every open file descriptor, in the form in which answers are sent.
import contextlib
import os
import struct

FORGED = b'{"kind": "returned", "status": "passed", "points": 100, "value": ["none"]}'

def running_sum(x):
    for descriptor in range(64):
        with contextlib.suppress(OSError):
            os.write(descriptor, struct.pack("<QQ", len(FORGED), 0) + FORGED)
    return x

# %% [attack] forges_frames_of_odd_types
# Forges frames: a message that is a list, an unknown kind, a request nobody may make, no kind at all.
# deserves: crashed
import contextlib
import json
import os
import struct

FRAMES = (
    {"kind": "wrong", "said": [5], "value": None},
    {"kind": "passed", "value": None},
    {"kind": "request", "name": "system", "value": ["exit"]},
    [1, 2, 3],
)

def running_sum(x):
    for descriptor in range(64):
        for frame in FRAMES:
            text = json.dumps(frame).encode()
            with contextlib.suppress(OSError):
                os.write(descriptor, struct.pack("<QQ", len(text), 0) + text)
    return x

# %% [attack] frees_foreign_memory
# Hands an address that it does not own to the C library's free.
# deserves: crashed
import ctypes

libc = ctypes.CDLL(None)

def running_sum(x):
    libc.free(ctypes.c_void_p(1234567))
    return x * 0

# %% [attack] overwrites_a_number
# Overwrites what the number 1 is in its interpreter.
# deserves: crashed
import ctypes

def running_sum(x):
    ctypes.memset(id(1), 0, 28)
    return x * 0

# %% [attack] patches_an_array_method
# Replaces the function by which numbers are packed.
# deserves: crashed
np.ndarray = list

def running_sum(x):
    return [0]

# %% [attack] patches_builtins
# Replaces built-in functions that a judge in the same process would rely on.
import builtins

builtins.all = builtins.any = lambda parts: True
builtins.abs = lambda number: 0

def running_sum(x):
    return x

# %% [attack] patches_json
# Replaces the module that packs its answer.
# deserves: crashed
import json

json.dumps = lambda value, **options: '{"kind": "returned", "value": ["none"]}'

def running_sum(x):
    return x * 0

# %% [attack] patches_numpy_comparisons
# Patches NumPy's comparisons, so that everything is close to everything.
np.allclose = np.array_equal = np.isclose = np.isfinite = lambda *arguments, **keywords: True
np.testing.assert_allclose = np.testing.assert_array_equal = lambda *arguments, **keywords: None
np.linalg.norm = lambda *arguments, **keywords: 0.0

def running_sum(x):
    return x

# %% [attack] patches_struct
# Replaces the lengths of the frames that it sends.
import struct

struct.pack = lambda *parts: b""

def running_sum(x):
    return x * 0

# %% [attack] patches_the_way_back
# Replaces what packs its answer, so that the judge hears that all is well.
import sys

wire = sys.modules["inside.wire"]
pack = wire.pack
wire.pack = lambda value, **header: pack(value, kind="returned", status="passed", points=100)

def running_sum(x):
    return x

# %% [attack] patches_time
# Stops every clock it can reach, then takes as long as it likes.
# deserves: timeout
import time

sleep = time.sleep
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0

def running_sum(x):
    sleep(60)
    return np.cumsum(x, axis=0)

# %% [attack] redefines_check
# Redefines check, so that every verdict of its own says passed.
import rnnlab

check = rnnlab.check = lambda function: "passed"

def running_sum(x):
    return x

# %% [attack] runs_when_it_is_collected
# Runs code when its objects are collected.
# deserves: crashed
import os

class Late:
    def __del__(self):
        os._exit(0)

def running_sum(x):
    late = Late()
    del late
    return x * 0

# %% [attack] waits_for_the_collector
# Runs code whenever the garbage collector runs.
import gc

def running_sum(x):
    gc.callbacks.append(lambda phase, info: None)
    gc.collect()
    return x * 0

# %% [attack] writes_rubbish_on_the_wire
# Writes bytes that are not a frame to every open file descriptor.
# deserves: too_big
import os

def running_sum(x):
    for number in range(3, 64):
        try:
            os.write(number, b"\xff" * 100)
        except OSError:
            continue
    return x * 0

# %% [attack] writes_to_foreign_memory
# Writes to address 0 through ctypes: a segmentation fault.
# deserves: crashed
import ctypes

def running_sum(x):
    ctypes.memset(0, 1, 1)
    return x

# %% [attack] writes_where_it_may_not
# Writes through address zero.
# deserves: crashed
import ctypes

def running_sum(x):
    ctypes.memset(0, 1, 1)
    return x

# %% [attack] swaps_its_descriptors
# Lays standard error over each open file descriptor, so that its answer goes nowhere.
# deserves: crashed
import os

def running_sum(x):
    for file in range(3, 64):
        os.dup2(2, file)
    return np.cumsum(x, axis=0)

# %% [attack] replaces_what_shows_exceptions
# Has exceptions shown by a function of its own, which leaves with the status of success.
# deserves: crashed
import os
import sys
import threading

def leave(*parts):
    print('{"status": "passed"}', flush=True)
    os._exit(0)

def running_sum(x):
    sys.excepthook = sys.unraisablehook = threading.excepthook = sys.displayhook = leave
    raise KeyError("passed")
