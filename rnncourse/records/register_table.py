"""What NVIDIA's compilers make of the persistent kernels in CUDA C++: the layers of docs/registers.md.

`python docs/registers.py` writes that page; no GPU is needed.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from nbjudge.printable import quantity
from pocketgpu.compiling.report import compile_report
from pocketgpu.devices import KB, Device, find
from rnnlab.kernels.persistence.shapes import Shape, cluster_shape, grid_shape

PAGE = Path(__file__).with_name("registers.md")  # docs/registers.md, which an installed course lacks
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
COMPILERS = "nvidia-cuda-nvrtc", "nvidia-nvjitlink"


def shapes() -> Iterator[tuple[str, Shape]]:
    """(architecture, shape) of every line."""
    for name, wanted in GRIDS.items():
        device = find(name)
        for cell, hidden, dtype in wanted:
            yield architecture(device), grid_shape(cell, hidden, dtype, SEQUENCES, device)
    for cell, hidden, dtype in CLUSTERS:
        yield architecture(find("H200")), cluster_shape(cell, hidden, dtype, find("H200"))
    yield architecture(find("H200")), cluster_shape(*CLUSTERS[-1], find("H200"), bulk=True)
    for device in NEWER:
        yield from ((architecture(device), grid_shape(*task, SEQUENCES, device)) for task in NEWER_GRIDS)
        yield from ((architecture(device), cluster_shape(*task, device)) for task in NEWER_CLUSTERS)
        yield architecture(device), cluster_shape(*CLUSTERS[-1], device, bulk=True)


def crowded(blocks: int) -> str:
    """What the LSTM's cluster kernel of 512 units needs if so many blocks share a multiprocessor."""
    shape = cluster_shape("lstm", 512, "bfloat16", find("H200"))
    bounds = "__launch_bounds__(THREADS, {})".format
    source = shape.source.replace(bounds(1), bounds(blocks))
    result = compile_report(source, arch=architecture(find("H200")), options=shape.options)[
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


def compilers() -> str:
    """Their names and versions."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in COMPILERS)


def architecture(device: Device) -> str:
    """Such as sm_90."""
    return "sm_{}{}".format(*device.compute_capability)
