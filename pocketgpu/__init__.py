"""pocketgpu: run, check, count and compile Numba CUDA kernels where there is no GPU.

From the ground up; a module imports those before it:
  devices       data sheets of GPUs
  compiling     what a kernel becomes on a GPU: types, registers, spills
  simulator     a simulated GPU: all blocks run concurrently, traffic is counted, races are reported
  replay        one launch of the simulator, step by step
  cuda          numba.cuda where a GPU can be used, the simulator where none can
  device_functions  loads and a clock that Numba CUDA lacks
"""

from importlib import import_module

# The public names; a module is imported when its name is used, because Numba takes a second to load.
_HOME = {
    "cuda": "pocketgpu.cuda",  # module: numba.cuda on a GPU, the simulator without one
    "compile_report": "pocketgpu.compiling.report",  # registers and spills of a kernel
    "DEVICES": "pocketgpu.devices",  # data sheets by name
    "Device": "pocketgpu.devices",  # one data sheet
}
__all__ = sorted(_HOME, key=str.lower)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'pocketgpu' has no attribute {name!r}; it offers {', '.join(__all__)}")
    home = import_module(_HOME[name])
    return home if _HOME[name].endswith(f".{name}") else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
