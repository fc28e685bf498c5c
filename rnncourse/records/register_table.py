"""What NVIDIA's compilers make of the persistent kernels in CUDA C++: the layers of docs/registers.md.

`python docs/registers.py` writes that page; no GPU is needed.  register_table.toml has the layers.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from nbjudge.printable import quantity
from pocketgpu.compiling.report import compile_report
from pocketgpu.devices import KB, Device, find
from rnncourse.tables import read_table
from rnnlab.kernels.persistence.shapes import Shape, cluster_shape, grid_shape

PAGE = Path(__file__).with_name("registers.md")  # docs/registers.md, which an installed course lacks
SEQUENCES = 64
NEWER = {  # no sheets, but limits of NVIDIA's table of compute capabilities, and the chips' multiprocessors
    "B200": replace(find("H200"), name="B200", compute_capability=(10, 0), multiprocessors=148),
    "RTX 5090": replace(
        find("H200"), name="RTX 5090", compute_capability=(12, 0), multiprocessors=170,
        shared_per_multiprocessor=100 * KB, shared_per_block_most=99 * KB,
    ),
}  # fmt: skip
COMPILERS = "nvidia-cuda-nvrtc", "nvidia-nvjitlink"


def shapes() -> Iterator[tuple[str, Shape]]:
    """(architecture, shape) of every line."""
    for line in read_table(__file__)["lines"]:
        device = NEWER.get(line["device"]) or find(line["device"])
        target = architecture(device)
        for layer in line.get("grids", ()):
            yield target, grid_shape(*layer, SEQUENCES, device)
        for layer in line.get("clusters", ()):
            yield target, cluster_shape(*layer, device)
        for layer in line.get("bulk_clusters", ()):
            yield target, cluster_shape(*layer, device, bulk=True)


def crowded(blocks: int) -> str:
    """What the LSTM's cluster kernel of 512 units needs if so many blocks share a multiprocessor."""
    device = find("H200")
    shape = cluster_shape("lstm", 512, "bfloat16", device)
    bounds = "__launch_bounds__(THREADS, {})".format
    source = shape.source.replace(bounds(1), bounds(blocks))
    kernels = compile_report(source, arch=architecture(device), options=shape.options)
    result = kernels["persistent_forward", "sm_90"]
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
