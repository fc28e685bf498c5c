"""@vectorize and @guvectorize with target="cuda": functions of elements, applied by a launch.

Each thread calls the function once, so numbers, findings and launches are those of a kernel.
"""

import functools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from pocketgpu.simulator.device_arrays import DeviceArray, device_array
from pocketgpu.simulator.launch import jit
from pocketgpu.simulator.number_types import types
from pocketgpu.simulator.threads import grid

Signatures = Sequence[object] | object | None
NOTHING = ("None", "none")  # the result of a function that returns nothing, in Python and in Numba


def for_target(ours: Callable, theirs: Callable | None) -> Callable:
    """The decorator: ours for target="cuda", and where Numba is not installed; else Numba's."""

    def decorate(*arguments: object, **options: object):
        if theirs is None or options.get("target") == "cuda":
            options.pop("target", None)
            return ours(*arguments, **options)
        return theirs(*arguments, **options)

    return decorate


def vectorize(signatures: Signatures = None, **options: object) -> Callable:
    """A function of numbers becomes one of arrays, which are broadcast; without signatures on the host."""
    if signatures is None:
        return np.vectorize
    if callable(signatures) and not hasattr(signatures, "return_type"):
        return np.vectorize(signatures)

    def decorate(function: Callable) -> Ufunc:
        numbers = "()" * function.__code__.co_argcount
        return Ufunc(function, signatures, f"{numbers}->()", returns=True)

    return decorate


def guvectorize(signatures: Signatures, layout: str, **options: object) -> Callable:
    """A function of arrays, the last of which are its results, becomes one of stacks of them."""
    return lambda function: Ufunc(function, signatures, layout, returns=False)


def _types(signature: object) -> list[tuple[np.dtype, bool]]:
    """(dtype, is it an array?) of each argument, and then of the result if there is one.

    A signature is "float32(float32, int32)", Numba's object, or a tuple with the types of the arguments.
    """
    if isinstance(signature, str):
        returned, _, inner = signature.partition("(")
        names = re.findall(r"([a-z]+[0-9]*_?)(\[?)", f"{inner} {returned}")
        kinds = [(getattr(types, name, name), bool(bracket)) for name, bracket in names]
    elif isinstance(signature, tuple):
        kinds = [(kind, hasattr(kind, "ndim")) for kind in signature]
    else:
        parts = [*signature.args, signature.return_type]
        kinds = [(kind, hasattr(kind, "ndim")) for kind in parts]
    return [(_dtype(kind), is_array) for kind, is_array in kinds if str(kind) not in NOTHING]


def _dtype(kind: object) -> np.dtype:
    """The dtype of a number's type, or of the elements of an array's."""
    while not isinstance(kind, np.dtype):
        kind = getattr(kind, "dtype", None) or np.dtype(str(kind))
    return kind


def _chosen(signatures: Sequence[object], inputs: Sequence[np.ndarray]) -> list[tuple[np.dtype, bool]]:
    """The types of the signature to which the inputs are best cast."""
    known = [_types(signature) for signature in signatures]
    for casting in ("no", "safe", "same_kind"):
        for kinds in known:
            pairs = zip(inputs, kinds, strict=False)
            if all(np.can_cast(array.dtype, dtype, casting) for array, (dtype, _) in pairs):
                return kinds
    offered = ", ".join(str(array.dtype) for array in inputs)
    raise TypeError(f"no signature of the function takes ({offered})")


@functools.cache
def _kernel(function: Callable, arrays: int, returns: bool) -> Callable:
    """A kernel whose threads call the function, each with the elements at one place of the first axis."""
    names = [f"array{number}" for number in range(arrays)]
    elements = [f"{name}[i]" for name in names]
    target = f"{elements.pop()} = " if returns else ""
    parameters = ", ".join(names)
    arguments = ", ".join(elements)
    lines = [
        f"def each({parameters}):",
        "    i = grid(1)",
        f"    if i < {names[-1]}.shape[0]:",
        f"        {target}function({arguments})",
    ]
    code = compile("\n".join(lines), "<a launch of a ufunc>", "exec")
    scope = {"grid": grid, "function": jit(device=True)(function)}
    exec(code, scope)
    kernel = scope["each"]
    kernel.__name__ = function.__name__
    return jit(kernel)


class Ufunc:
    """A function for stacks of arrays of sizes such as (n),(n)->().

    returns: the function returns its result; else its last arguments take the results.
    """

    def __init__(self, function: Callable, signatures: Signatures, layout: str, returns: bool):
        self.function = function
        self.signatures = signatures if isinstance(signatures, list | tuple) else [signatures]
        inputs, _, outputs = layout.replace(" ", "").partition("->")
        self.names_of_inputs = _sizes(inputs)
        self.names_of_outputs = _sizes(outputs)
        self.returns = returns
        self.reduce = functools.partial(functools.reduce, function)
        self.__name__ = function.__name__

    def __call__(self, *arguments: object, out: object = None, stream: object = 0):
        number_of_inputs = len(self.names_of_inputs)
        inputs = [np.asarray(argument) for argument in arguments[:number_of_inputs]]
        targets = arguments[number_of_inputs:]
        kinds = _chosen(self.signatures, inputs)
        cores, stack = self._shapes(inputs)
        sizes = self._sizes(cores)
        count = math.prod(stack)
        arrays = []  # of the launch: an element, or an array of them, for each place in the stack
        for array, core, (dtype, is_array) in zip(inputs, cores, kinds, strict=False):
            broadcast = np.broadcast_to(array, stack + core).astype(dtype, order="C")
            arrays.append(broadcast.reshape(count, *_element_shape(core, is_array)))
        shapes = [tuple(sizes[name] for name in names) for names in self.names_of_outputs]
        results = []
        for shape, (dtype, is_array) in zip(shapes, kinds[number_of_inputs:], strict=False):
            results.append(device_array((count, *_element_shape(shape, is_array)), dtype))
        arrays += results
        kernel = _kernel(self.function, len(arrays), self.returns)
        kernel.forall(count)(*arrays)
        targets = (*targets, out, *[None] * len(results))
        outputs = []
        for result, shape, target in zip(results, shapes, targets, strict=False):
            stacked = result.copy_to_host().reshape(stack + shape)
            outputs.append(_handed_over(stacked, arguments, target))
        return tuple(outputs) if len(outputs) > 1 else outputs[0]

    def _shapes(self, inputs: list[np.ndarray]) -> tuple[list[tuple], tuple]:
        """The shape of each input's core, which one call takes, and that of the stack of calls."""
        cores = []
        stacks = []
        for array, names in zip(inputs, self.names_of_inputs, strict=True):
            stack_dimensions = array.ndim - len(names)
            stacks.append(array.shape[:stack_dimensions])
            cores.append(array.shape[stack_dimensions:])
        return cores, np.broadcast_shapes(*stacks)

    def _sizes(self, cores: list[tuple]) -> dict[str, int]:
        """The size of each name of the layout."""
        named = set()
        for names, core in zip(self.names_of_inputs, cores, strict=True):
            named.update(zip(names, core, strict=True))
        sizes = dict(named)
        if len(named) > len(sizes):
            listed = ", ".join(map(str, sorted(named)))
            raise ValueError(f"{self.__name__}: one name has two sizes, {listed}")
        return sizes


def _element_shape(core: tuple, is_array: bool) -> tuple:
    """The shape of what one call gets: a number where the type is no array, else an array of one or more."""
    if core or not is_array:
        return core
    return (1,)


def _sizes(part: str) -> list[list[str]]:
    """[["n"], []] of "(n),()"."""
    groups = re.findall(r"\(([^)]*)\)", part)
    return [[name for name in group.split(",") if name] for group in groups]


def _handed_over(result: np.ndarray, arguments: Sequence[object], out: object) -> object:
    """The result where the caller wants it: in `out`, or on the device if an argument is there."""
    if out is not None:
        target = out._ary if isinstance(out, DeviceArray) else out
        target[...] = result
        return out
    if any(isinstance(argument, DeviceArray) for argument in arguments):
        return DeviceArray(result)
    return result if result.ndim else result[()]
