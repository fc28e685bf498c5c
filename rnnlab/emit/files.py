"""Every derived file of Python: its path and its text."""

from pathlib import Path

from rnnlab.emit import cuda_cells, kernel_properties, numba_device, numba_rows, numba_vectors

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "rnnlab" / "kernels"
SOURCES = {  # path in KERNELS -> function that gives its text
    "cells.py": kernel_properties.source,
    "compiled/gates.py": numba_rows.source,
    "persistence/cells.cuh": cuda_cells.source,
    "packed/steps.py": numba_vectors.source,
    "persistence/pointwise.py": numba_device.source,
}


COPIES = {  # so that neither package needs the other
    "ranks/remedies.py": "pocketgpu/remedies.py",
    "ranks/source.py": "pocketgpu/simulator/source.py",
}
COPIED = "# Written by `make course`: a copy of {}\n"


def derived() -> dict[Path, bytes]:
    """The bytes of each derived file, by its path."""
    texts = {}
    for path, original in COPIES.items():
        head = COPIED.format(original).encode()
        texts[ROOT / path] = head + (ROOT / original).read_bytes()
    for name, source in SOURCES.items():
        texts[KERNELS / name] = source().encode()
    return texts


def stale() -> list[Path]:
    """Files that are missing or not what their equation says."""
    return [path for path, data in derived().items() if not path.exists() or path.read_bytes() != data]


def write() -> list[Path]:
    """Write the stale files; those are returned."""
    paths = stale()
    files = derived()
    for path in paths:
        path.write_bytes(files[path])
    return paths
