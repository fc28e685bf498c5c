"""Machine code as text, by nvdisasm, and whether a loop that waits for other blocks really loads.

A waiting loop does nothing but count, compare, load and look at the clock.  A compiler that takes a load for
one that gives the same value each time moves it out of the loop, and the thread waits for a register: no
simulator and no count of registers shows that, the machine code does.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pocketgpu.compiling.compilers import CompilerMissing

PACKAGE = "nvidia-cuda-nvdisasm"
SECTION = re.compile(r"\.text\.([\w$]+)")
LABEL = re.compile(r"\s*(\.L_x_\d+):")
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;")
JUMP = re.compile(r"BRA\b.*`\((\.L_x_\d+)\)")
STRONG = re.compile(r"\b(LDG?|ATOMG?)\.[\w.]*STRONG|\bSYNCS\.")  # SYNCS: the barrier of a cluster
WORK = (
    re.compile(  # arithmetic on floating-point numbers, stores, exchanges, barriers, calls of other sections
        r"\b([FD](ADD|MUL|FMA)|H(ADD2|MUL2|MMA)|HFMA2(?!\.MMA \w+, -RZ, RZ)|MUFU"
        r"|ST[GSL]?|STAS|SHFL|BAR|UCGABAR_\w+|UBLK\w+|CALL\.ABS)\b"
    )
)


class Loop(NamedTuple):
    """An innermost loop: its label and the instructions up to the branch back."""

    label: str
    instructions: tuple[str, ...]

    @property
    def waits(self) -> bool:
        """It computes and stores nothing; on sm_75 a loop of votes alone brings lanes together."""
        votes = any("VOTE" in instruction for instruction in self.instructions)
        return not any(map(WORK.search, self.instructions)) and (self.loads or not votes)

    @property
    def loads(self) -> bool:
        """It has a load that sees what others write."""
        return any(map(STRONG.search, self.instructions))


@cache
def disassembled(cubin: bytes) -> dict[str, tuple[str, ...]]:
    """{kernel: its labels and instructions}.  Raises CompilerMissing where nvdisasm is not installed."""
    program = disassembler()
    if not program:
        raise CompilerMissing(f"reading machine code needs {PACKAGE}: pip install 'rnnlab[compile]'")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([program, "-c", file.name], capture_output=True, text=True, check=True).stdout
    return dict(_functions(text))


def disassembler() -> str | None:
    """Path of nvdisasm; None where it is not installed."""
    try:
        from cuda import pathfinder
    except ImportError:
        return None
    return pathfinder.find_nvidia_binary_utility("nvdisasm")


def _functions(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name and code of each section of code; the one before the first is empty."""
    _, *sections = re.split(r"^\s*\.section\s+", text, flags=re.MULTILINE)
    for section in sections:
        if name := SECTION.match(section):
            matches = (LABEL.match(line) or INSTRUCTION.match(line) for line in section.splitlines())
            yield name[1], tuple(match[1] for match in matches if match)


def innermost_loops(code: tuple[str, ...]) -> list[Loop]:
    """Every branch back to a label with no other such branch in between."""
    labels = {line: index for index, line in enumerate(code) if line.startswith(".L_x_")}
    spans = sorted(
        (labels[jump[1]], index)
        for index, line in enumerate(code)
        # one instruction alone is the branch to itself that fills up the end of a kernel
        if (jump := JUMP.search(line)) and labels.get(jump[1], index) < index - 1
    )
    inner = [
        span
        for span in spans
        if not any(span != other and span[0] <= other[0] and other[1] <= span[1] for other in spans)
    ]
    return [
        Loop(code[start], tuple(line for line in code[start + 1 : end + 1] if not line.startswith(".L_x_")))
        for start, end in inner
    ]


def waiting_loops(code: tuple[str, ...]) -> list[Loop]:
    """The innermost loops of a kernel that compute and store nothing."""
    return [loop for loop in innermost_loops(code) if loop.waits]


def blind_loops(cubin: bytes) -> list[str]:
    """ "kernel label" of each waiting loop without a load that sees what others write: it waits for ever."""
    return [
        f"{name} {loop.label}"
        for name, code in disassembled(cubin).items()
        for loop in waiting_loops(code)
        if not loop.loads
    ]
