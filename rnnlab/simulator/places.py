"""Places in a program: a code object and one of its instructions.

Where a frame stands (f_lasti) may be the instruction or somewhere in the room that Python keeps behind it,
because Python calls more directly what it has called several times.  Places are compared by start_of.
"""

import dis
from bisect import bisect_right
from types import CodeType

_starts: dict[int, tuple[CodeType, list[int]]] = {}  # by id: a code object's hash looks at all of its text


def start_of(code: CodeType, position: int) -> int:
    """The instruction that a frame stands at."""
    if id(code) not in _starts:
        _starts[id(code)] = code, [each.offset for each in dis.get_instructions(code)]
    starts = _starts[id(code)][1]
    return starts[bisect_right(starts, position) - 1]


def line_of(code: CodeType, position: int) -> int:
    """The source line of an instruction."""
    for start, end, line in code.co_lines():
        if start <= position < end and line is not None:
            return line
    return code.co_firstlineno
