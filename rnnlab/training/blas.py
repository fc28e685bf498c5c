"""The BLAS of a training: how many threads suit its products, and which library and kernels computed it.

OpenBLAS shares out even a product that one thread finishes in a few microseconds; its threads then spin while
they wait for the next one, and take cores from everybody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from rnnlab.kernels.compiled.threads import single_threaded_blas
from rnnlab.training.model import Model

LARGE_PRODUCT = 1e7  # FLOP of a step's product from which a second thread gains time


@contextmanager
def suitable_threads(model: Model, batch: int, rung: Any) -> Iterator[None]:
    """One thread of BLAS while a NumPy rung multiplies small matrices; else all that it may use."""
    network = model.network
    rows = network.gates * network.hidden_size
    columns = max(network.hidden_size, network.input_size)
    flops = 2 * batch * rows * columns
    properties = getattr(rung, "PROPERTIES", None) or getattr(rung, "properties", None)
    is_numpy = properties is not None and properties.package is None and properties.needs == "cpu"
    if not is_numpy or flops >= LARGE_PRODUCT:
        yield
        return
    with single_threaded_blas():
        yield


def arithmetic() -> str:
    """Versions and kernels that decide the last bits of a result, such as "NumPy 2.3.5, openblas 0.3"."""
    parts = [f"NumPy {np.__version__}"]
    for pool in threadpool_info():
        if pool["user_api"] == "blas":
            names = pool["internal_api"], pool["version"], pool.get("architecture")
            parts.append(" ".join(filter(None, names)))
    return ", ".join(parts)
