"""docs/registers.md: what NVIDIA's compilers make of the persistent kernels in CUDA C++; no GPU is needed.

    python -m rnncourse.records.register_table

A test compiles them again and holds every figure, so a change of a kernel that costs registers is seen.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from nbjudge.printable import quantity
from pocketgpu.compiling.report import compile_report
from pocketgpu.devices import KB, Device, find
from rnnlab.kernels.persistence.shapes import DIRECTIONS, Shape, cluster_shape, grid_shape

PAGE = Path(__file__).parents[2] / "docs/registers.md"
SEQUENCES = 64
GRIDS = {  # device: cell, hidden size, dtype
    "H200": (
        *(("rnn_tanh", hidden, "bfloat16") for hidden in (1024, 2048)),
        *(("gru", hidden, "bfloat16") for hidden in (512, 1024, 2048)),
        *(("lstm", hidden, "bfloat16") for hidden in (256, 512, 768, 1024, 1536, 2048)),
        *(("lstm", hidden, "tf32") for hidden in (512, 1024)),
        ("gru", 1024, "tf32"),
    ),
    "A100": (("rnn_tanh", 1024, "bfloat16"), ("gru", 1024, "float16"), ("lstm", 1024, "bfloat16")),
}
NEWER = (  # no sheets, but limits of NVIDIA's table of compute capabilities, and the chips' multiprocessors
    replace(find("H200"), name="B200", compute_capability=(10, 0), multiprocessors=148),
    replace(
        find("H200"), name="RTX 5090", compute_capability=(12, 0), multiprocessors=170,
        shared_per_multiprocessor=100 * KB, shared_per_block_most=99 * KB,
    ),
)  # fmt: skip
NEWER_GRIDS = (("gru", 1024, "bfloat16"), ("lstm", 512, "tf32"), ("lstm", 1024, "bfloat16"))
NEWER_CLUSTERS = (("gru", 512, "bfloat16"), ("lstm", 512, "bfloat16"))
CLUSTERS = (
    *(("rnn_tanh", hidden, "bfloat16") for hidden in (256, 512)),
    *(("gru", hidden, "bfloat16") for hidden in (256, 384, 512)),
    *(("lstm", hidden, "bfloat16") for hidden in (64, 128, 256, 384, 512)),
    ("lstm", 512, "float16"),
)
HEAD = (
    *("kernel", "arch", "cell", "H", "dtype", "blocks × threads", "direction"),
    *("registers", "spills, bytes", "stack, bytes", "shared, KiB"),
)
COMPILERS = "nvidia-cuda-nvrtc", "nvidia-nvjitlink"
TITLE = f"""# Registers of the persistent kernels

Made by `python -m rnncourse.records.register_table` without a GPU: compiled, not run,
with {{compilers}}. A thread may have 255 registers.
Shared memory is a block's, for {SEQUENCES} sequences. A cluster's blocks are those of 8 sequences.
How layers are shared out: `rnnlab/kernels/persistence/shapes.py`. sm_100 and sm_120 are Blackwell's:
the kernels compile as they are; whether such a GPU runs clusters of 16 blocks, its driver alone can say.
"""
CROWDED = (
    "The LSTM's cluster kernel of 512 units in bfloat16, forward, where more blocks share a multiprocessor:"
)


def shapes() -> Iterator[tuple[str, Shape]]:
    """(architecture, shape) of every line."""
    for name, wanted in GRIDS.items():
        device = find(name)
        for cell, hidden, dtype in wanted:
            yield _arch(device), grid_shape(cell, hidden, dtype, SEQUENCES, device)
    for cell, hidden, dtype in CLUSTERS:
        yield _arch(find("H200")), cluster_shape(cell, hidden, dtype, find("H200"))
    yield _arch(find("H200")), cluster_shape(*CLUSTERS[-1], find("H200"), bulk=True)
    for device in NEWER:
        yield from ((_arch(device), grid_shape(*task, SEQUENCES, device)) for task in NEWER_GRIDS)
        yield from ((_arch(device), cluster_shape(*task, device)) for task in NEWER_CLUSTERS)
        yield _arch(device), cluster_shape(*CLUSTERS[-1], device, bulk=True)


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


def crowded(blocks: int) -> str:
    """What the LSTM's cluster kernel of 512 units needs if so many blocks share a multiprocessor."""
    shape = cluster_shape("lstm", 512, "bfloat16", find("H200"))
    bounds = "__launch_bounds__(THREADS, {})".format
    source = shape.source.replace(bounds(1), bounds(blocks))
    result = compile_report(source, arch=_arch(find("H200")), options=shape.options)[
        "persistent_forward", "sm_90"
    ]
    return (
        f"{quantity(blocks, 'block')} on a multiprocessor: {result.registers} registers, "
        f"{result.spill_stores} bytes spilled, {result.spill_loads} read back"
    )


def recorded_crowded() -> list[str]:
    """The lines of `crowded` that the page holds, for 1 block and for 2."""
    page_lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("- ") for line in page_lines if " on a multiprocessor: " in line]


def page() -> str:
    """The whole page."""
    rows = [line for arch, shape in shapes() for line in lines(arch, shape)]
    head = TITLE.format(compilers=compilers()), f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"
    more = [f"- {crowded(blocks)}" for blocks in (1, 2)]
    return "\n".join([*head, *rows, "", CROWDED, "", *more, ""])


def compilers() -> str:
    """Their names and versions."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in COMPILERS)


def _arch(device: Device) -> str:
    return "sm_{}{}".format(*device.compute_capability)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} is written")
