"""Exceptions of NumPy and of lists that mean a stray access, as findings.

A rewritten access (accesses.py) is not guarded, because a guard costs as much as the access.  What it raises
is understood here: the instruction that failed says which access it was, the trace or the frame with which
indices.
"""

import ast
import re
from types import CodeType, FrameType, TracebackType

from pocketgpu.simulator.accesses import PLACES, position_of
from pocketgpu.simulator.memory import beyond, row_for_element
from pocketgpu.simulator.source import tree_of
from pocketgpu.simulator.threads import Finding, finding, machine, name_of
from pocketgpu.simulator.trace import EVENT, KINDS, SITES, STORE, TURN, WRITTEN, Line, Position, Trace

NUMPY_OUT_OF_BOUNDS = re.compile("out of bounds for axis|too many indices|too large to convert to C")
OF_ACCESSES = {  # what an access raises that goes astray, and part of its message
    IndexError: "",
    OverflowError: "too large to convert to C",
    TypeError: "indices must be integers",
    ValueError: "an array element with a sequence",
}


def innermost(error: BaseException) -> TracebackType | None:
    """Where a rewritten function raised the exception; None where none did."""
    result = None
    step = error.__traceback__
    while step:
        result = step if id(step.tb_frame.f_code) in WRITTEN else result
        step = step.tb_next
    return result


def stray_access(error: Exception, launch: object) -> Finding | None:
    """The finding behind an exception of a kernel; None where it is not an access that went astray."""
    step = innermost(error)
    if step is None or OF_ACCESSES.get(type(error), "nothing else") not in str(error):
        return None
    code = WRITTEN[id(step.tb_frame.f_code)]
    position = [*step.tb_frame.f_code.co_positions()][step.tb_lasti // 2]
    before = machine.now
    machine.now = launch.fault  # which names the thread
    try:
        if launch.trace is not None:
            return _by_trace(error, launch.trace, step.tb_frame, code, position)
        return _by_frame(error, step.tb_frame, code, position, Line(step.tb_lineno, code.co_filename))
    finally:
        machine.now = before


def _by_trace(
    error: Exception, trace: Trace, frame: FrameType, code: CodeType, position: Position
) -> Finding | None:
    """The finding of a watched access: an entry near the trace's end, taken back with all behind."""
    entries = trace.entries
    end = len(trace.entries)
    for last in reversed(range(end)):
        if type(entries[last]) is not int or entries[last] < TURN:
            continue
        if entries[last] < EVENT:
            return None
        number, kind = divmod(entries[last] - EVENT, KINDS)
        if number >= len(SITES):
            continue  # an index, of int(1 / 0) for instance
        site = SITES[number]
        indices = entries[last + 2 : end]
        if site.code is code and site.position == position:
            break
        end = last
    else:
        return None
    if not entries[last + 1]:
        return None
    array = trace.arrays[entries[last + 1]]
    del entries[last:]
    if isinstance(error, ValueError):
        return row_for_element(site.line, _shape_stored(frame, code, position)).finding
    index = indices[0] if len(indices) == 1 else tuple(indices)
    return beyond(array, index, site.line, "writes" if kind == STORE else "reads").finding


def _shape_stored(frame: FrameType, code: CodeType, position: Position) -> tuple[int, ...]:
    """The shape of the array that is stored there: of a name, or of the last part that the kernel made."""
    for node in ast.walk(tree_of(code)):
        targets = [*map(position_of, getattr(node, "targets", ()))]
        if isinstance(node, ast.Assign) and position in targets and isinstance(node.value, ast.Name):
            names = frame.f_globals | frame.f_locals
            return getattr(names.get(node.value.id), "shape", machine.part)
    return machine.part


def _by_frame(
    error: Exception, frame: FrameType, code: CodeType, position: Position, line: int
) -> Finding | None:
    """The finding of an access that nobody watches, to an array in lists."""
    place = PLACES.get((id(code), position))
    if place is None or not isinstance(error, IndexError):
        return None
    names = frame.f_globals | frame.f_locals
    indices = [names[index] if isinstance(index, str) else index for index in place.indices]
    for axis, (index, size) in enumerate(zip(indices, place.shape, strict=True)):
        if not -size <= index < size:
            text = f"index {index} is out of bounds for axis {axis} with size {size}"
            message = f"{name_of(machine.now)} on line {line}: {text}"
            return finding("out_of_bounds", message, machine.now, line)
    return None
