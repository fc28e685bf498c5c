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
    flops: Callable = lambda inputs, outputs, flags: prod(outputs[0])


def _same_shape(shapes, flags):
    if len(set(shapes)) != 1:
        raise ValueError("the shapes must be equal")
    return [shapes[0]]


def _no_flops(inputs, outputs, flags):
    return 0


# sum: a + b + … of equal shapes


def _sum(values, flags):
    return [sum(values[1:], values[0])]


def _sum_label(names, flags):
    return "+".join(names)


def _reverse_sum(d, inputs, output, flags):
    return (d,) * len(inputs)


def _sum_flops(inputs, outputs, flags):
    additions = len(inputs) - 1
    return additions * prod(outputs[0])


# times: a∘b; a vector [H] multiplies every row of the other factor


def _times(values, flags):
    a, b = values
    return [a * b]


def _times_shape(shapes, flags):
    first, second = shapes
    row = first[-1:]
    if second not in (first, row):
        raise ValueError("the shapes must be equal, or the second has one number for each column")
    return [first]


def _times_label(names, flags):
    return "∘".join(names)


def _reverse_times(d, inputs, output, flags):
    """y = a∘b gives da = d∘b and db = d∘a; where every row has the same b, db is the sum over rows."""
    a, b = inputs
    da = d * b
    db = d * a
    if a.shape != b.shape:
        db = d.sketch.add("sum_rows", db)
    return da, db


# product: a b, with a factor transposed where its flag says so; product_add: a b + c, a GEMM with β = 1,
# whose sum costs no pass of its own


def _oriented(factors, flags):
    """The factors, arrays or wires, transposed where their flags say so."""
    for factor, is_transposed in zip(factors, flags, strict=True):
        yield factor.T if is_transposed else factor


def _product(values, flags):
    a, b = _oriented(values, flags)
    return [a @ b]


def _product_shape(shapes, flags):
    left, right, *added = shapes
    transposed_left, transposed_right = flags
    m, k = left[::-1] if transposed_left else left
    k_right, n = right[::-1] if transposed_right else right
    if k != k_right:
        raise ValueError(f"the inner sizes {k} and {k_right} differ")
    if added and added != [(m, n)]:
        raise ValueError(f"the product is {(m, n)}")
    return [(m, n)]


def _product_label(names, flags):
    label = []
    for name, is_transposed in zip(names, flags, strict=True):
        label.append(f"{name}ᵀ" if is_transposed else name)
    return "·".join(label)


def _reverse_product(d, inputs, output, flags):
    """y = a b gives da = d bᵀ and db = aᵀ d; where a factor entered transposed, so does its gradient."""
    a, b = _oriented(inputs, flags)
    transposed_a, transposed_b = flags
    da = b @ d.T if transposed_a else d @ b.T
    db = d.T @ a if transposed_b else a.T @ d
    return da, db


def _product_flops(inputs, outputs, flags):
    left = inputs[0]
    transposed_left = flags[0]
    inner_size = left[0] if transposed_left else left[1]
    return 2 * prod(outputs[0]) * inner_size


def _product_add(values, flags):
    *factors, added = values
    (product,) = _product(factors, flags)
    return [product + added]


def _product_add_label(names, flags):
    a, b, added = names
    return f"{a}·{b}+{added}"


def _reverse_product_add(d, inputs, output, flags):
    *factors, _ = inputs
    da, db = _reverse_product(d, factors, output, flags)
    return da, db, d


# bias: a vector [H] is added to every row


def _bias(values, flags):
    rows, bias = values
    return [rows + bias]


def _bias_shape(shapes, flags):
    rows, bias = shapes
    if rows[-1:] != bias:
        raise ValueError("the bias has one number for each column")
    return [rows]


def _reverse_bias(d, inputs, output, flags):
    return d, d.sketch.add("sum_rows", d)


def _sum_rows(values, flags):
    return [values[0].sum(0)]


def _sum_rows_shape(shapes, flags):
    return [shapes[0][1:]]


def _sum_rows_label(names, flags):
    return f"Σ{names[0]}"


def _sum_rows_flops(inputs, outputs, flags):
    return prod(inputs[0])


# one_minus: 1 − a; negative: −a


def _one_minus(values, flags):
    return [1 - values[0]]


def _one_minus_label(names, flags):
    return f"1-{names[0]}"


def _reverse_one_minus(d, inputs, output, flags):
    return (d.sketch.add("negative", d),)


def _negative(values, flags):
    return [-values[0]]


def _negative_label(names, flags):
    return f"-{names[0]}"


# stack: tensors side by side along an axis; split: its inverse


def _stack(values, flags):
    (axis,) = flags
    return [np.concatenate(values, axis=axis)]


def _resized(shape, axis, size):
    """The shape with another size along one axis."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def _stack_shape(shapes, flags):
    (axis,) = flags
    others = {_resized(shape, axis, 0) for shape in shapes}
    if len(others) != 1:
        raise ValueError(f"stacked tensors may differ in size {axis} only")
    total = sum(shape[axis] for shape in shapes)
    return [_resized(shapes[0], axis, total)]


def _stack_label(names, flags):
    wires = ";".join(names)
    return f"[{wires}]"


def _reverse_stack(d, inputs, output, flags):
    (axis,) = flags
    sizes = [wire.shape[axis] for wire in inputs]
    return split(d, sizes, axis)


def _split(values, flags):
    axis, sizes = flags
    ends = np.cumsum(sizes)
    return np.split(values[0], ends[:-1], axis=axis)


def _split_shape(shapes, flags):
    (whole,) = shapes
    axis, sizes = flags
    if sum(sizes) != whole[axis]:
        raise ValueError(f"the parts {sizes} do not add up to {whole[axis]}")
    return [_resized(whole, axis, size) for size in sizes]


def _split_label(names, flags):
    return f"{names[0]}:"


def _reverse_split(parts, inputs, outputs, flags):
    axis, _ = flags
    stacked = parts[0].sketch.add("stack", *parts, flags=(axis,))
    return (stacked,)


# Pointwise functions h = f(a), and f' written on the output h


def _tanh_slope(h):
    return 1 - h * h


def _sigmoid(a):
    return 0.5 * np.tanh(0.5 * a) + 0.5


def _sigmoid_slope(h):
    return h * (1 - h)


def _relu(a):
    return np.maximum(a, 0)


def _relu_slope(h):
    return h > 0


def _pointwise(name, function, slope):
    """Rules of h = f(a) and of its slope d·f'(a), with f' written on the output h."""

    def run(values, flags):
        return [function(values[0])]

    def label(names, flags):
        return f"{name}({names[0]})"

    def reverse(d, inputs, output, flags):
        return (d.sketch.add(f"{name}_slope", d, output),)

    def run_slope(values, flags):
        d, h = values
        return [d * slope(h)]

    def slope_label(names, flags):
        return f"{names[0]}∘{name}′"

    def slope_flops(inputs, outputs, flags):
        return 3 * prod(outputs[0])

    forward = Rule(run, _same_shape, label, reverse)
    backward = Rule(run_slope, _same_shape, slope_label, flops=slope_flops)
    return {name: forward, f"{name}_slope": backward}


RULES = {
    "sum": Rule(_sum, _same_shape, _sum_label, _reverse_sum, _sum_flops),
    "times": Rule(_times, _times_shape, _times_label, _reverse_times),
    "product": Rule(_product, _product_shape, _product_label, _reverse_product, _product_flops),
    "product_add": Rule(
        _product_add, _product_shape, _product_add_label, _reverse_product_add, _product_flops
    ),
    "bias": Rule(_bias, _bias_shape, _sum_label, _reverse_bias),
    "sum_rows": Rule(_sum_rows, _sum_rows_shape, _sum_rows_label, flops=_sum_rows_flops),
    "one_minus": Rule(_one_minus, _same_shape, _one_minus_label, _reverse_one_minus),
    "negative": Rule(_negative, _same_shape, _negative_label),
    "stack": Rule(_stack, _stack_shape, _stack_label, _reverse_stack, _no_flops),
    "split": Rule(_split, _split_shape, _split_label, _reverse_split, _no_flops),
    **_pointwise("tanh", np.tanh, _tanh_slope),
    **_pointwise("sigmoid", _sigmoid, _sigmoid_slope),
    **_pointwise("relu", _relu, _relu_slope),
}


def split(wire: Any, sizes: list[int], axis: int) -> tuple:
    """Wires of the parts of a stacked wire, in order."""
    sketch = wire.sketch
    names = tuple(sketch._fresh(f"{wire.name}:{k}") for k in range(len(sizes)))
    return sketch.add("split", wire, flags=(axis, tuple(sizes)), names=names)
