"""docs/registers.md: registers, spills and shared memory of the persistent kernels in CUDA C++.

    python docs/registers.py

A test compiles them again and holds every figure, so a change of a kernel that costs registers is seen.
"""

import json

from pocketgpu.compiling.report import compile_report
from rnncourse.records.register_table import (
    CROWDED,
    PAGE,
    SEQUENCES,
    compilers,
    crowded,
    recorded_crowded,
    shapes,
)
from rnnlab.kernels.persistence.shapes import DIRECTIONS, Shape

HEAD = (
    *("kernel", "arch", "cell", "H", "dtype", "blocks × threads", "direction"),
    *("registers", "spills, bytes", "stack, bytes", "shared, KiB"),
)
TITLE = f"""# Registers of the persistent kernels

Made by `python docs/registers.py` without a GPU: compiled, not run,
with {{compilers}}. A thread may have 255 registers.
Shared memory is a block's, for {SEQUENCES} sequences. A cluster's blocks are those of 8 sequences.
How layers are shared out: `rnnlab/kernels/persistence/shapes.py`. sm_100 and sm_120 are Blackwell's:
the kernels compile as they are; whether such a GPU runs clusters of 16 blocks, its driver alone can say.
"""
CROWD = (
    "The LSTM's cluster kernel of 512 units in bfloat16, forward, where more blocks share a multiprocessor:"
)


def page() -> str:
    """The whole page."""
    rows = [line for arch, shape in shapes() for line in lines(arch, shape)]
    head = TITLE.format(compilers=compilers()), f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"
    return "\n".join([*head, *rows, "", CROWD, "", *(f"- {line}" for line in recorded_crowded()), ""])


def lines(arch: str, shape: Shape) -> list[str]:
    """Lines of the table, one for each direction."""
    table_rows, report = [], compile_report(shape.source, arch=arch, options=shape.options)
    for direction in DIRECTIONS:
        compiled, launch = report[f"persistent_{direction}", arch], shape.launch(direction, 8)
        cells = (
            *(shape.name, arch, shape.cell, shape.hidden, shape.dtype),
            *(f"{launch.blocks} × {launch.threads}", direction, compiled.registers),
            *(compiled.spill_stores + compiled.spill_loads, compiled.stack, f"{launch.shared / 1024:.0f}"),
        )
        table_rows.append(f"| {' | '.join(map(str, cells))} |")
    return table_rows


if __name__ == "__main__":
    CROWDED.write_text(json.dumps([crowded(blocks) for blocks in (1, 2)], indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} is written")
