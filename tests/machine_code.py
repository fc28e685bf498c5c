"""Machine code as text, by nvdisasm, and whether a loop that waits for other blocks really loads.

A waiting loop does nothing but count, compare, load and look at the clock.  A compiler that takes a load for
one that gives the same value each time moves it out of the loop, and the thread waits for a register; or it
removes the loop, and the thread does not wait.  No simulator and no count of registers shows that, the
machine code does.  What is left of the second kind is nothing: so the loads in waiting loops are counted, and
tests compare the number with that of the source (source_polls.py).
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rnnlab.compiling.compilers import CompilerMissing

PACKAGE = "nvidia-cuda-nvdisasm"
SECTION = re.compile(r"\.text\.([\w$]+)")
LABEL = re.compile(r"\s*(\.L_x_\d+):")
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;")
JUMP = re.compile(r"BRA\b.*`\((\.L_x_\d+)\)")
# what sees the writes of other multiprocessors; SYNCS: the barrier of a cluster
STRONG = re.compile(r"\b(LDG?|ATOMG?|ATOM)\.[\w.]*STRONG\.(GPU|SYS)|\bATOMS\b|\bSYNCS\.")
PLAIN = re.compile(r"\bLDG?\.")  # so does a load behind an emptied first-level cache
EMPTIED = re.compile(r"\bCCTL\.IVALL\b")
ENDS = re.compile(r"(BRA|JMP)(\.\w+)* `\(\.L_x_\d+\)|(EXIT|RET|BRX|JMX)\b.*")  # nothing runs behind it
WORK = (
    re.compile(  # arithmetic on floating-point numbers, stores, exchanges, barriers, calls of other sections
        r"\b([FD](ADD|MUL|FMA)|H(ADD2|MUL2|MMA)|HFMA2(?!\.MMA \w+, -RZ, RZ)|MUFU"
        r"|ST[GSL]?|STAS|SHFL\.(?!IDX)|BAR|UCGABAR_\w+|UBLK\w+|CALL\.ABS)\b"
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


Graph = dict[int, list[int]]  # place of an instruction -> the places of those that may come next


def control_flow(code: tuple[str, ...]) -> Graph:
    """What may run after each instruction or label, of those that the first one reaches."""
    labels = {line: place for place, line in enumerate(code) if line.startswith(".L_x_")}
    after: Graph = {}
    todo = [0] if code else []
    while todo:
        place = todo.pop()
        if place in after or place >= len(code):
            continue
        line = code[place]
        # BSSY names where the lanes of a warp join again; the BSYNC before that label brings them there
        targets = [] if "BSSY" in line else re.findall(r"`\((\.L_x_\d+)\)", line)
        after[place] = [labels[target] for target in targets if target in labels]
        if not ENDS.fullmatch(line):
            after[place].append(place + 1)
        todo += after[place]
    return after


def loops_of(code: tuple[str, ...]) -> list[set[int]]:
    """Natural loops, as places of their instructions: for each branch back all that leads to it from its
    target."""
    after = control_flow(code)
    before: Graph = {}
    for place, followers in after.items():
        for follower in followers:
            before.setdefault(follower, []).append(place)
    loops = []
    for last, first in ((a, b) for a, followers in after.items() for b in followers if b <= a):
        loop, todo = {first}, [last]
        while todo:
            if (place := todo.pop()) not in loop:
                loop.add(place)
                todo += before.get(place, [])
        loops.append(loop)
    return loops


def idle_loops(code: tuple[str, ...]) -> list[tuple[set[int], set[int]]]:
    """Loops that compute and store nothing; with each the places of its loads that see what others write."""
    result = []
    for loop in loops_of(code):
        if not any(WORK.search(code[place]) for place in loop):
            empties = any(EMPTIED.search(code[place]) for place in loop)
            sees = lambda line, empties=empties: STRONG.search(line) or (empties and PLAIN.search(line))
            result.append((loop, {place for place in loop if sees(code[place])}))
    return result


def waiting_loads(code: tuple[str, ...]) -> list[str]:
    """Loads that see what others write, in loops that compute and store nothing: one for each wait."""
    return [code[place] for place in sorted(set().union(*(loads for _, loads in idle_loops(code))))]


def blind_loops(cubin: bytes) -> list[str]:
    """ "kernel label" of each loop that does nothing, not even such a load: it waits for a register."""
    return [
        f"{name} {code[min(loop)]}"
        for name, code in disassembled(cubin).items()
        for loop, loads in idle_loops(code)
        if not loads and not any("VOTE" in code[place] for place in loop)  # which brings lanes together
    ]
