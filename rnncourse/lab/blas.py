"""The BLAS that NumPy has loaded, and the variables that override its choice of kernels.

OpenBLAS chooses its kernels when it is loaded, by the processor's core type. OPENBLAS_CORETYPE and
OPENBLAS_L2_SIZE override the choice: a wrong one halves the speed, or ends the process at the first product.
"""

import os
from collections.abc import Mapping

KERNELS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def describe_library() -> str:
    """Name, version, kernels and threads of NumPy's BLAS, as threadpoolctl reports them."""
    try:
        import numpy  # noqa: F401  (brings its BLAS into this process)
    except ImportError as error:
        return f"NumPy does not load: {str(error).strip().splitlines()[0]}"
    import threadpoolctl

    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    if not pools:  # threadpoolctl does not know every library, for instance Apple's
        return "not reported by NumPy's library"
    library = pools[0]
    kernels = f", {library['architecture']} kernels" if library.get("architecture") else ""
    return f"{library['internal_api']} {library['version']}{kernels}, threads: {library['num_threads']}"


def overrides(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The variables of KERNELS that are set."""
    return [name for name in KERNELS if name in environment]


def warning(environment: Mapping[str, str] = os.environ) -> str:
    """A sentence on variables that override OpenBLAS's choice; empty if none is set."""
    settings = " and ".join(f"{name}={environment[name]}" for name in overrides(environment))
    return settings and f"{settings} overrides OpenBLAS's choice of kernels: a wrong one halves the speed"


def without_overrides(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which OpenBLAS chooses its kernels by itself."""
    return {name: value for name, value in environment.items() if name not in KERNELS}
