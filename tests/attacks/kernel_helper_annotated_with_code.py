"""Runs code where the annotation of a helper is evaluated.

exercise: saxpy_kernel
deserves: failed
"""

from rnnlab import cuda

FORGED = (
    "import sys\n"
    "def launched(function, is_own=False):\n"
    "    names = sys.modules['pocketgpu.simulator.counts'].NAMES\n"
    "    counts = dict.fromkeys((*names, 'launches'), 0) | {'flops': {}}\n"
    "    return lambda grid, block, a, x, y: {'arrays': [x, a * x + y], 'counts': counts, 'findings': []}\n"
    "for module in list(sys.modules.values()):\n"
    "    if 'launched' in vars(module):\n"
    "        module.launched = launched\n"
)


@cuda.jit(device=True)
def scaled(a: exec(FORGED), x) -> exec(FORGED):
    return a * x


@cuda.jit
def saxpy_kernel(a, x, y):
    scaled(a, x[0])
