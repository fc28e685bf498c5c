"""The rules: what each kind of node computes, and the gradients that it sends back.

`reverse` draws the backward half on wires: given d (the gradient on the output wire; a tuple for the parts of
a split), the node's inputs and its output, it returns the gradient on each input.  Which forward wires it
touches is exactly what must be saved or recomputed; `sum` and `bias` touch none.  Pointwise functions use
their output, not their input.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rule:
    """Functions of one kind of node; `flags` are the node's own, for instance which factor is transposed."""

    run: Callable  # (values, flags) -> list of values made
    shape: Callable  # (shapes, flags) -> list of shapes made; ValueError where they do not fit
    label: Callable  # (names, flags) -> name of the wire made
    reverse: Callable | None = None  # (d, inputs, output) -> gradient wire of each input; None: not mirrored
    flops: Callable = lambda read, outputs, flags: prod(outputs[0])


def _same(shapes, flags):
    if len(set(shapes)) != 1:
        raise ValueError("the shapes must be equal")
    return [shapes[0]]


def _product_shape(shapes, flags):
    (m, k), (k_other, n) = (
        shape[::-1] if flipped else shape for shape, flipped in zip(shapes, flags[:2], strict=False)
    )
    if k != k_other:
        raise ValueError(f"the inner sizes {k} and {k_other} differ")
    if len(shapes) == 3 and shapes[2] != (m, n):
        raise ValueError(f"the product is {(m, n)}")
    return [(m, n)]


def _product(values, flags):
    a, b = (value.T if flipped else value for value, flipped in zip(values, flags[:2], strict=False))
    return [a @ b]


def _product_flops(read, outputs, flags):
    return 2 * prod(outputs[0]) * read[0][0 if flags[0] else 1]


def _reverse_product(d, inputs, output, flags):
    """y = a b gives da = d bᵀ and db = aᵀ d; where a factor entered transposed, so does its gradient."""
    a, b = (wire.T if flipped else wire for wire, flipped in zip(inputs, flags, strict=True))
    da = b @ d.T if flags[0] else d @ b.T
    db = d.T @ a if flags[1] else a.T @ d
    return da, db


def _bias_shape(shapes, flags):
    if shapes[0][-1:] != shapes[1]:
        raise ValueError("the bias has one number for each column")
    return [shapes[0]]


def _times_shape(shapes, flags):
    if shapes[1] not in (shapes[0], shapes[0][-1:]):
        raise ValueError("the shapes must be equal, or the second has one number for each column")
    return [shapes[0]]


def _reverse_times(d, inputs, output, flags):
    """y = a∘b gives da = d∘b and db = d∘a; where every row has the same b, db is the sum over rows."""
    a, b = inputs
    da = d * b
    db = d * a
    return da, db if a.shape == b.shape else d.sketch.add("sum_rows", db)


def _stack_shape(shapes, flags):
    (axis,) = flags
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) != 1:
        raise ValueError(f"stacked tensors may differ in size {axis} only")
    total = sum(shape[axis] for shape in shapes)
    return [tuple(total if k == axis else n for k, n in enumerate(shapes[0]))]


def _split_sizes(shape, flags):
    axis, sizes = flags
    if sum(sizes) != shape[axis]:
        raise ValueError(f"the parts {sizes} do not add up to {shape[axis]}")
    return [tuple(size if k == axis else n for k, n in enumerate(shape)) for size in sizes]


def _pointwise(name, function, slope):
    """Rules of h = f(a) and of its slope d·f'(a), with f' written on the output h."""
    forward = Rule(
        run=lambda v, flags: [function(v[0])],
        shape=_same,
        label=lambda names, flags: f"{name}({names[0]})",
        reverse=lambda d, inputs, output, flags: (d.sketch.add(f"{name}_slope", d, output),),
    )
    backward = Rule(
        run=lambda v, flags: [v[0] * slope(v[1])],
        shape=_same,
        label=lambda names, flags: f"{names[0]}∘{name}′",
        flops=lambda read, outputs, flags: 3 * prod(outputs[0]),
    )
    return {name: forward, f"{name}_slope": backward}


RULES = {
    "sum": Rule(
        run=lambda v, flags: [sum(v[1:], v[0])],
        shape=_same,
        label=lambda names, flags: "+".join(names),
        reverse=lambda d, inputs, output, flags: (d,) * len(inputs),
        flops=lambda read, outputs, flags: (len(read) - 1) * prod(outputs[0]),
    ),
    "times": Rule(
        run=lambda v, flags: [v[0] * v[1]],
        shape=_times_shape,
        label=lambda names, flags: "∘".join(names),
        reverse=_reverse_times,
    ),
    "product": Rule(
        run=_product,
        shape=_product_shape,
        label=lambda names, flags: "·".join(n + "ᵀ" * f for n, f in zip(names, flags, strict=True)),
        reverse=_reverse_product,
        flops=_product_flops,
    ),
    "product_add": Rule(  # the GEMM with β = 1: the sum costs no pass of its own
        run=lambda v, flags: [_product(v[:2], flags)[0] + v[2]],
        shape=_product_shape,
        label=lambda names, flags: f"{names[0]}·{names[1]}+{names[2]}",
        reverse=lambda d, inputs, output, flags: (*_reverse_product(d, inputs[:2], output, flags), d),
        flops=_product_flops,
    ),
    "bias": Rule(
        run=lambda v, flags: [v[0] + v[1]],
        shape=_bias_shape,
        label=lambda names, flags: "+".join(names),
        reverse=lambda d, inputs, output, flags: (d, d.sketch.add("sum_rows", d)),
    ),
    "sum_rows": Rule(
        run=lambda v, flags: [v[0].sum(0)],
        shape=lambda shapes, flags: [shapes[0][1:]],
        label=lambda names, flags: f"Σ{names[0]}",
        flops=lambda read, outputs, flags: prod(read[0]),
    ),
    "one_minus": Rule(
        run=lambda v, flags: [1 - v[0]],
        shape=_same,
        label=lambda names, flags: f"1-{names[0]}",
        reverse=lambda d, inputs, output, flags: (d.sketch.add("negative", d),),
    ),
    "negative": Rule(
        run=lambda v, flags: [-v[0]],
        shape=_same,
        label=lambda names, flags: f"-{names[0]}",
    ),
    "stack": Rule(
        run=lambda v, flags: [np.concatenate(v, axis=flags[0])],
        shape=_stack_shape,
        label=lambda names, flags: f"[{';'.join(names)}]",
        reverse=lambda d, inputs, output, flags: split(d, [wire.shape[flags[0]] for wire in inputs], *flags),
        flops=lambda read, outputs, flags: 0,
    ),
    "split": Rule(
        run=lambda v, flags: np.split(v[0], np.cumsum(flags[1])[:-1], axis=flags[0]),
        shape=lambda shapes, flags: _split_sizes(shapes[0], flags),
        label=lambda names, flags: f"{names[0]}:",
        reverse=lambda parts, inputs, outputs, flags: (
            parts[0].sketch.add("stack", *parts, flags=flags[:1]),
        ),
        flops=lambda read, outputs, flags: 0,
    ),
    **_pointwise("tanh", np.tanh, lambda h: 1 - h * h),
    **_pointwise("sigmoid", lambda a: 0.5 * np.tanh(0.5 * a) + 0.5, lambda h: h * (1 - h)),
    **_pointwise("relu", lambda a: np.maximum(a, 0), lambda h: h > 0),
}


def split(wire: Any, sizes: list[int], axis: int) -> tuple:
    """Wires of the parts of a stacked wire, in order."""
    names = tuple(wire.sketch._fresh(f"{wire.name}:{k}") for k in range(len(sizes)))
    return wire.sketch.add("split", wire, flags=(axis, tuple(sizes)), names=names)
