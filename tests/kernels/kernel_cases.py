"""Tables of kernels, each with its launch and what must come of it."""

from collections.abc import Callable

from pocketgpu import cuda


def table_of(case: Callable) -> tuple[dict, Callable]:
    """An empty table, and a decorator that enters the kernel below it: {name: case(kernel, *properties)}."""
    cases = {}

    def enter(*properties, **more):
        def register(function):
            kernel = function if hasattr(function, "py_func") else cuda.jit(function)
            cases[kernel.__name__] = case(kernel, *properties, **more)
            return kernel

        return register

    return cases, enter
