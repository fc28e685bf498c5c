"""@vectorize and @guvectorize with target="cuda": functions of elements, applied by a loop on the host.

Their threads share nothing, so there is no race to look for, and nothing is counted.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from pocketgpu.simulator.device_arrays import DeviceArray
from pocketgpu.simulator.number_types import types

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
    """A function of numbers becomes one of arrays, which are broadcast."""
    if callable(signatures) and not hasattr(signatures, "return_type"):
        return Elementwise(signatures, ())
    return lambda function: Elementwise(function, _as_list(signatures))


def guvectorize(signatures: Signatures, layout: str, **options: object) -> Callable:
    """A function of arrays, the last of which are its results, becomes one of stacks of them."""
    return lambda function: OfStacks(function, _as_list(signatures), layout)


def _as_list(signatures: Signatures) -> Sequence[object]:
    if signatures is None:
        return ()
    return signatures if isinstance(signatures, list | tuple) else [signatures]


def _dtypes(signature: object) -> list[np.dtype]:
    """The dtypes of arguments and then of the result, from "float32(float32, int32)" or Numba's object."""
    if isinstance(signature, str):
        returned, _, inner = signature.partition("(")
        names = [*re.findall(r"[a-z]+[0-9]*_?", inner), *re.findall(r"^[a-z]+[0-9]*_?", returned.strip())]
        names = [name for name in names if name not in ("void", "none")]
        return [np.dtype(getattr(types, name).dtype) for name in names]
    kinds = [*signature.args, signature.return_type]
    kinds = [getattr(kind, "dtype", kind) for kind in kinds if kind is not None and str(kind) != "none"]
    return [kind if isinstance(kind, np.dtype) else np.dtype(str(kind)) for kind in kinds]


def _chosen(signatures: Sequence[object], inputs: Sequence[np.ndarray]) -> list[np.dtype] | None:
    """The dtypes of the signature to which the inputs are best cast; None without signatures."""
    known = [_dtypes(signature) for signature in signatures]
    for casting in ("no", "safe", "same_kind"):
        for dtypes in known:
            pairs = zip(inputs, dtypes, strict=False)
            if all(np.can_cast(array.dtype, dtype, casting) for array, dtype in pairs):
                return dtypes
    if not known:
        return None
    offered = ", ".join(str(array.dtype) for array in inputs)
    raise TypeError(f"no signature of the function takes ({offered})")


class Elementwise:
    """A function of numbers for arrays of one shape."""

    def __init__(self, function: Callable, signatures: Sequence[object]):
        self.function = function
        self.signatures = signatures
        self.__name__ = function.__name__

    def __call__(self, *arguments: object, out: object = None, stream: object = 0):
        inputs = [np.asarray(argument) for argument in arguments]
        dtypes = _chosen(self.signatures, inputs)
        if dtypes:
            inputs = [array.astype(dtype) for array, dtype in zip(inputs, dtypes, strict=False)]
        parts = np.broadcast_arrays(*inputs)
        with np.errstate(all="ignore"):
            flat = [self.function(*values) for values in zip(*(part.ravel() for part in parts), strict=True)]
        result = np.array(flat, dtypes[-1] if dtypes else None).reshape(parts[0].shape)
        return _handed_over(result, arguments, out)


class OfStacks:
    """A function of arrays with sizes such as (n),(n)->(), for stacks of these arrays."""

    def __init__(self, function: Callable, signatures: Sequence[object], layout: str):
        self.function = function
        self.signatures = signatures
        left, _, right = layout.replace(" ", "").partition("->")
        self.inner = [_sizes(part) for part in (left, right)]
        self.__name__ = function.__name__

    def __call__(self, *arguments: object, out: object = None, stream: object = 0):
        names_in, names_out = self.inner
        inputs = [np.asarray(argument) for argument in arguments[: len(names_in)]]
        outputs = arguments[len(names_in) :] or ((out,) if out is not None else ())
        dtypes = _chosen(self.signatures, inputs)
        sizes = {}
        for array, names in zip(inputs, names_in, strict=True):
            sizes.update(zip(names, array.shape[array.ndim - len(names) :], strict=True))
        stacks = [
            array.shape[: array.ndim - len(names)] for array, names in zip(inputs, names_in, strict=True)
        ]
        stack = np.broadcast_shapes(*stacks)
        kinds = dtypes[len(inputs) :] if dtypes else [np.result_type(*inputs)] * len(names_out)
        results = [
            np.zeros(stack + tuple(sizes[name] for name in names), kind)
            for names, kind in zip(names_out, kinds, strict=False)
        ]
        wide = [
            np.broadcast_to(array, stack + array.shape[array.ndim - len(names) :])
            for array, names in zip(inputs, names_in, strict=True)
        ]
        with np.errstate(all="ignore"):
            for place in np.ndindex(*stack):
                targets = [np.atleast_1d(result[place]) for result in results]
                self.function(*(array[place] for array in wide), *targets)
                for result, target in zip(results, targets, strict=True):
                    result[place] = target.reshape(result[place].shape)
        if len(results) > 1:
            return tuple(_handed_over(result, arguments, None) for result in results)
        return _handed_over(results[0], arguments, outputs[0] if outputs else None)


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
