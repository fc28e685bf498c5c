"""Kernels with code in an annotation, a default, a decorator or a text; it forges the result and the counts."""

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



# %% [attack] kernel_annotated_positional_with_code
# Runs code in the annotation of a positional parameter.
@cuda.jit
def saxpy_kernel(a, x: exec(FORGED), /, y):
    pass

# %% [attack] kernel_annotated_rest_with_code
# Runs code in the annotations of *rest and of a keyword.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y, *rest: exec(FORGED), z: exec(FORGED) = 0):
    pass

# %% [attack] kernel_annotated_return_with_code
# Runs code where the annotation of the result is evaluated.
@cuda.jit
def saxpy_kernel(a, x, y) -> exec(FORGED):
    pass

# %% [attack] kernel_annotated_with_code
# Runs code where a parameter's annotation is evaluated.
@cuda.jit
def saxpy_kernel(a: exec(FORGED), x, y):
    pass

# %% [attack] kernel_beside_a_class
# Runs code in the body of a class beside the kernel.
# deserves: forbidden
class Sizes:
    n = exec(FORGED) or 1

N = Sizes.n

@cuda.jit
def saxpy_kernel(a, x, y):
    y[0] = N

# %% [attack] kernel_beside_a_comprehension
# Runs code in a comprehension that makes a constant.
SIZES = tuple(exec(FORGED) or n for n in range(3))

@cuda.jit
def saxpy_kernel(a, x, y):
    y[0] = SIZES[0]

# %% [attack] kernel_beside_a_walrus
# Runs code in an expression that names its value.
# deserves: forbidden
SIZE = (CODE := exec(FORGED)) or 3

@cuda.jit
def saxpy_kernel(a, x, y):
    y[0] = SIZE

# %% [attack] kernel_helper_annotated_with_code
# Runs code where the annotation of a helper is evaluated.
@cuda.jit(device=True)
def scaled(a: exec(FORGED), x) -> exec(FORGED):
    return a * x

@cuda.jit
def saxpy_kernel(a, x, y):
    scaled(a, x[0])

# %% [attack] kernel_rebound_after_the_launcher
# Is right, and its name means a plain function in the end.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

saxpy_kernel = exec(FORGED) or saxpy_kernel

# %% [attack] kernel_with_a_guarded_pattern
# Runs code in the guard of a pattern.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    match a:
        case b if exec(FORGED):
            y[0] = b

# %% [attack] kernel_with_a_keyword_default
# Runs code in the default of a parameter that takes a keyword alone.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y, *, z=exec(FORGED)):  # noqa: B008
    pass

# %% [attack] kernel_with_a_lambda_as_default
# Runs code in a default argument of a function in a default argument.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y, z=(lambda b=exec(FORGED): b)()):  # noqa: B008
    pass

# %% [attack] kernel_with_a_second_decorator
# Runs code in a second decorator.
@(exec(FORGED) or cuda.jit)
def saxpy_kernel(a, x, y):
    pass

# %% [attack] kernel_with_an_annotated_constant
# Runs code in the annotation of a number beside the kernel.
ZERO: exec(FORGED) = 0

@cuda.jit
def saxpy_kernel(a, x, y):
    y[0] = ZERO

# %% [attack] kernel_with_an_annotated_element
# Runs code in the annotation of an element inside the kernel.
@cuda.jit
def saxpy_kernel(a, x, y):
    y[0]: exec(FORGED) = x[0]

# %% [attack] kernel_with_an_annotated_function_inside
# Runs code in the annotation of a function inside the kernel.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    def inner(b: exec(FORGED)):
        return b

    y[0] = inner(x[0])

# %% [attack] kernel_with_code_in_a_format
# Runs code in the format of a text.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    print(f"{x[0]:{exec(FORGED)}}")

# %% [attack] kernel_with_code_in_a_slice
# Runs code in a slice.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    z = x[exec(FORGED) : 3]
    y[0] = z[0]

# %% [attack] kernel_with_code_in_an_option
# Runs code in an option of its decorator.
# deserves: forbidden
@cuda.jit(fastmath=exec(FORGED))
def saxpy_kernel(a, x, y):
    pass

# %% [attack] kernel_with_code_in_its_signature
# Runs code in the signature that its decorator takes.
# deserves: forbidden
@cuda.jit((exec(FORGED),))
def saxpy_kernel(a, x, y):
    pass

# %% [attack] kernel_that_compiles_a_helper
# Compiles a function for the CPU in the process that counts.
# deserves: crashed
from numba import njit

def add(a, b):
    return a + b

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = njit(add)(a * x[i], y[i])

# %% [attack] kernel_with_a_helper_of_the_cpu_that_has_code_in_an_option
# Has code in an option of a helper's compiler.
# deserves: forbidden
from numba import njit

@njit(locals=exec("import os; os._exit(0)") or {})
def add(a, b):
    return a + b

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = add(a * x[i], y[i])
