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
    return lambda function: Ufunc(function, signatures, "()" * function.__code__.co_argcount + "->()", True)


def guvectorize(signatures: Signatures, layout: str, **options: object) -> Callable:
    """A function of arrays, the last of which are its results, becomes one of stacks of them."""
    return lambda function: Ufunc(function, signatures, layout, False)


def _types(signature: object) -> list[tuple[np.dtype, bool]]:
    """(dtype, is it an array?) of each argument, and then of the result if there is one.

    A signature is "float32(float32, int32)", Numba's object, or a tuple with the types of the arguments.
    """
    if isinstance(signature, str):
        returned, _, inner = signature.partition("(")
        names = re.findall(r"([a-z]+[0-9]*_?)(\[?)", f"{inner} {returned}")
        kinds = [(getattr(types, name, name), bool(bracket)) for name, bracket in names]
    else:
        parts = signature if isinstance(signature, tuple) else (*signature.args, signature.return_type)
        kinds = [(part, hasattr(part, "ndim")) for part in parts if part is not None]
    return [(_dtype(kind), is_array) for kind, is_array in kinds if str(kind) != "none"]


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
    lines = [
        f"def each({', '.join(names)}):",
        "    i = grid(1)",
        f"    if i < {names[-1]}.shape[0]:",
        f"        {target}function({', '.join(elements)})",
    ]
    scope = {"grid": grid, "function": jit(device=True)(function)}
    exec(compile("\n".join(lines), "<a launch of a ufunc>", "exec"), scope)
    scope["each"].__name__ = function.__name__
    return jit(scope["each"])


class Ufunc:
    """A function for stacks of arrays of sizes such as (n),(n)->().

    returns: the function returns its result; else its last arguments take the results.
    """

    def __init__(self, function: Callable, signatures: Signatures, layout: str, returns: bool):
        self.function = function
        self.signatures = signatures if isinstance(signatures, list | tuple) else [signatures]
        left, _, right = layout.replace(" ", "").partition("->")
        self.inner = [_sizes(part) for part in (left, right)]
        self.returns = returns
        self.reduce = functools.partial(functools.reduce, function)
        self.__name__ = function.__name__

    def __call__(self, *arguments: object, out: object = None, stream: object = 0):
        names_in, names_out = self.inner
        inputs = [np.asarray(argument) for argument in arguments[: len(names_in)]]
        kinds = _chosen(self.signatures, inputs)
        operands = [
            (array, names, array.shape[array.ndim - len(names) :])
            for array, names in zip(inputs, names_in, strict=True)
        ]
        named = {pair for _, names, core in operands for pair in zip(names, core, strict=True)}
        sizes = dict(named)
        if len(named) > len(sizes):
            raise ValueError(f"{self.__name__}: one name has two sizes, {', '.join(map(str, sorted(named)))}")
        stack = np.broadcast_shapes(*(array.shape[: array.ndim - len(core)] for array, _, core in operands))
        count = math.prod(stack)
        wide = [
            np.broadcast_to(array, stack + core)
            .astype(dtype, order="C")
            .reshape(count, *(core or (1,) * is_array))
            for (array, _, core), (dtype, is_array) in zip(operands, kinds, strict=False)
        ]
        shapes = [tuple(sizes[name] for name in names) for names in names_out]
        results = [
            device_array((count, *(shape or (1,) * is_array)), dtype)
            for shape, (dtype, is_array) in zip(shapes, kinds[len(inputs) :], strict=False)
        ]
        _kernel(self.function, len(wide + results), self.returns).forall(count)(*wide, *results)
        targets = (*arguments[len(names_in) :], out, *[None] * len(results))
        handed_over = tuple(
            _handed_over(result.copy_to_host().reshape(stack + shape), arguments, target)
            for result, shape, target in zip(results, shapes, targets, strict=False)
        )
        return handed_over if len(handed_over) > 1 else handed_over[0]


def _sizes(part: str) -> list[list[str]]:
    """[["n"], []] of "(n),()"."""
    return [[name for name in inner.split(",") if name] for inner in re.findall(r"\(([^)]*)\)", part)]


def _handed_over(result: np.ndarray, arguments: Sequence[object], out: object) -> object:
    """The result where the caller wants it: in `out`, or on the device if an argument is there."""
    if out is not None:
        target = out._ary if isinstance(out, DeviceArray) else out
        target[...] = result
        return out
    if any(isinstance(argument, DeviceArray) for argument in arguments):
        return DeviceArray(result)
    return result if result.ndim else result[()]
