"""Probes of a machine with a GPU, before anything is measured: versions, products, kernels, abilities.

Each raises what is wrong, and returns what it found.  `python -m bench.gpu.probes` prints them all.
"""

import json
import os
import platform
import sys
from importlib import metadata

import numpy as np

PACKAGES = ("numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch")
PACKAGES += ("nvidia-cublas", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
SIZE = 64
NO_GPU = 77  # exit status where no probe worked that needs a GPU


def describe() -> dict:
    """The current GPU, and packages with their versions."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    gpu = {
        "name": properties["name"].decode(),
        "memory": properties["totalGlobalMem"],
        "multiprocessors": properties["multiProcessorCount"],
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
    }
    packages = {name: version for name in PACKAGES if (version := _version(name))}
    return {"gpu": gpu, "packages": packages | {"python": platform.python_version()}}


def product() -> dict:
    """A product by cuBLAS, through CuPy: without its library no stage of the ladder runs."""
    import cupy

    ones = cupy.ones((SIZE, SIZE), "float32")
    total = float((ones @ ones).sum())
    if total != SIZE**3:
        raise ValueError(f"a product of ones sums to {total}, expected {SIZE**3}")
    return {"finding": "cuBLAS multiplies"}


def torch() -> dict:
    """A layer of PyTorch's on the GPU, and the float64 reference that it computes."""
    import torch

    from bench.gpu.references import distance

    if not torch.cuda.is_available():
        raise RuntimeError(f"PyTorch {torch.__version__} sees no GPU")
    away = distance("lstm", 2, "cuda")
    versions = f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    return {"finding": f"{versions}, reference {away:.0e} from NumPy"}


def cudnn() -> dict:
    """cuDNN by ctypes, as the contestants use it."""
    from bench.gpu.cudnn import library

    return {"finding": f"cuDNN {library().cudnnGetVersion()}"}


def numba() -> dict:
    """A kernel through `from rnnlab import cuda`: compiled, launched, right."""
    from pocketgpu import cuda

    if getattr(cuda, "is_simulated", False) or os.environ.get("RNNLAB_CUDA") == "simulator":
        raise RuntimeError("pocketgpu.cuda is the simulator here, not numba.cuda: no GPU that Numba can use")

    @cuda.jit
    def count(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i + cuda.threadIdx.x * 0

    out = cuda.to_device(np.zeros(SIZE, "int32"))
    count[2, 32](out)
    if not np.array_equal(out.copy_to_host(), np.arange(SIZE)):
        raise ValueError("a kernel that writes its thread's number writes something else")
    return {"finding": "Numba compiles and launches a kernel"}


def abilities() -> dict:
    """What the GPU lets a kernel do."""
    from rnnlab.ladder import chooser

    return {"finding": str(chooser.abilities())}


PROBES = {
    "describe": describe,
    "product": product,
    "numba": numba,
    "abilities": abilities,
    "torch": torch,
    "cudnn": cudnn,
}
NEEDS_NONE = {"cudnn"}  # its library is found without a GPU, too


def main() -> int:
    """Print every finding; 0, 1 if a probe raised, NO_GPU if all did that need one."""
    working = set()
    for name, probe in PROBES.items():
        try:
            result = probe()
        except Exception as error:  # a package that is missing or broken is the finding
            message = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"WRONG: {name}: {message}", flush=True)
            continue
        working.add(name)
        print(f"{name}: {result.get('finding') or json.dumps(result)}", flush=True)
    if not working - NEEDS_NONE:
        print("WRONG: nothing can be measured: no probe worked on a GPU")
        return NO_GPU
    return int(working != PROBES.keys())


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
