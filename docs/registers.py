"""docs/registers.md: registers, spills and shared memory of the persistent kernels in CUDA C++.

    python docs/registers.py

A test compiles them again and holds every figure, so a change of a kernel that costs registers is seen.
"""

from pathlib import Path

from pocketgpu.compiling.report import compile_report
from rnncourse.records.register_table import PAGE, SEQUENCES, compilers, crowded, shapes
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
CROWDED = (
    "The LSTM's cluster kernel of 512 units in bfloat16, forward, where more blocks share a multiprocessor:"
)


def page() -> str:
    """The whole page."""
    rows = [line for arch, shape in shapes() for line in lines(arch, shape)]
    head = TITLE.format(compilers=compilers()), f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"
    more = [f"- {crowded(blocks)}" for blocks in (1, 2)]
    return "\n".join([*head, *rows, "", CROWDED, "", *more, ""])


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
    text = page()
    for path in (PAGE, Path(__file__).with_suffix(".md")):
        path.write_text(text, encoding="utf-8")
        print(f"{path} is written")
