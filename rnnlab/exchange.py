"""Weights of other frameworks as a network's parameters, and back: a table of properties, arrays in and out.

Frameworks agree on what a GRU or an LSTM is and differ in how they write it: the order of the gates, weights
[G·H,I] or transposed [I,G·H], one bias or two, the sign of the update gate, the place of the reset gate, a
constant added to the forget gate at run time.  TABLE states these properties, and two functions read them.
No framework is imported: a layer is read through its attributes, its mapping of arrays, or its list of them.

A single bias is stored in bias_ih, and bias_hh is 0; on the way out the two are added.  A run-time forget
bias is stored in bias_hh, so that reading and writing gives back every bit.  float16 and bfloat16
become float32.
docs/frameworks.md has the table with the versions for which each framework's own results were compared.
"""

import re
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rnnlab.cells import find_cell
from rnnlab.layer_contents import TURN, cell_of, copied, is_array, plain_name, refuse_extra, shapes, walk

Arrays = dict[str, np.ndarray]
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
STORES = {  # what an array of TABLE is
    "Wi": ("weight_ih",), "Wh": ("weight_hh",), "W": ("weight_ih", "weight_hh"),
    "bi": ("bias_ih",), "bh": ("bias_hh",), "b": ("bias_ih", "bias_hh"),
}  # fmt: skip
WEIGHTS = (("weight_ih",), ("weight_hh",), ("weight_ih", "weight_hh"))  # all others are biases
ALIASES = {"flax": ("linen", "nnx")}  # nnx has a cell that it stores as linen does
# How a framework stores one layer of a cell, a line of TABLE: arrays are (path, its parts of a network's
# layer, their gates); swapped and forget are the gates that these properties concern
Layout = namedtuple("Layout", "framework cell gates arrays reset is_rows swapped forget")
Parts = namedtuple("Parts", "cell reset layers parameters")  # what makes a Network

# An array is path:what, and :gates where it has not all.  In a path {} stands for a gate that has an array
# of its own; W holds both weights, those of the inputs first, and b both biases.  Properties: rows, weights
# are [G·H,I] and not [I,G·H]; before, the reset gate; swapped=z, h' = z·n + (1 − z)·h; forget=f, 1 is
# added to this gate at run time.  Of one framework, the first line that fits is taken: its own default
# stands before what only an argument can say.
TABLE = """
framework| cells             | gates| arrays                                                | properties
torch    | rnn_tanh rnn_relu | h    | weight_ih:Wi weight_hh:Wh bias_ih:bi bias_hh:bh       | rows
torch    | gru               | rzn  | weight_ih:Wi weight_hh:Wh bias_ih:bi bias_hh:bh       | rows
torch    | lstm              | ifgo | weight_ih:Wi weight_hh:Wh bias_ih:bi bias_hh:bh       | rows
keras    | rnn_tanh rnn_relu | h    | kernel:Wi recurrent_kernel:Wh bias:bi                 |
keras    | gru               | zrn  | kernel:Wi recurrent_kernel:Wh bias:b                  |
keras    | gru               | zrn  | kernel:Wi recurrent_kernel:Wh bias:bi                 | before
keras    | lstm              | ifgo | kernel:Wi recurrent_kernel:Wh bias:bi                 |
linen    | rnn_tanh rnn_relu | h    | i/kernel:Wi h/kernel:Wh i/bias:bi                     |
linen    | gru               | rzn  | i{}/kernel:Wi h{}/kernel:Wh i{}/bias:bi hn/bias:bh:n  |
linen    | lstm              | ifgo | i{}/kernel:Wi h{}/kernel:Wh h{}/bias:bi               |
nnx      | rnn_tanh rnn_relu | h    | dense_i/kernel:Wi dense_h/kernel:Wh dense_i/bias:bi   |
nnx      | gru               | rzn  | dense_i/kernel:Wi dense_h/kernel:Wh dense_i/bias:bi   |
nnx      | lstm              | ifgo | dense_i/kernel:Wi dense_h/kernel:Wh dense_h/bias:bi   |
equinox  | gru               | rzn  | weight_ih:Wi weight_hh:Wh bias:bi bias_n:bh:n         | rows
equinox  | lstm              | ifgo | weight_ih:Wi weight_hh:Wh bias:bi                     | rows
haiku    | rnn_relu          | h    | linear/w:Wi linear_1/w:Wh linear/b:bi linear_1/b:bh   |
haiku    | rnn_relu          | h    | linear/w:Wi linear_1/w:Wh linear/b:bi                 |
haiku    | gru               | zrn  | w_i:Wi w_h:Wh b:bi                                    | before swapped=z
haiku    | lstm              | igfo | linear/w:W linear/b:bi                                | forget=f
mlx      | rnn_tanh rnn_relu | h    | Wxh:Wi Whh:Wh bias:bi                                 | rows
mlx      | gru               | rzn  | Wx:Wi Wh:Wh b:bi bhn:bh:n                             | rows
mlx      | lstm              | ifgo | Wx:Wi Wh:Wh bias:bi                                   | rows
onnx     | rnn_tanh rnn_relu | h    | W:Wi R:Wh B:b                                         | rows
onnx     | gru               | zrn  | W:Wi R:Wh B:b                                         | rows before
onnx     | gru               | zrn  | W:Wi R:Wh B:b                                         | rows
onnx     | lstm              | iofg | W:Wi R:Wh B:b                                         | rows
"""


def _layouts() -> Iterator[Layout]:
    _, *lines = TABLE.strip().splitlines()
    for line in lines:
        framework, cells, gates, entries, words = (column.strip() for column in line.split("|"))
        arrays = []
        for entry in entries.split():
            arrays += _stored_arrays(entry, gates)
        properties = {}
        for word in words.split():
            name, _, gate = word.partition("=")
            properties[name] = gate
        is_rows = "rows" in properties
        reset = "before" if "before" in properties else "after"
        swapped = properties.get("swapped", "")
        forget = properties.get("forget", "")
        for cell in cells.split():
            yield Layout(framework, cell, gates, arrays, reset, is_rows, swapped, forget)


def _stored_arrays(entry: str, gates: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(path, its parts of a layer, its gates) of the arrays that an entry of TABLE stands for."""
    path, what, *own_gates = entry.split(":")
    if own_gates:
        (gates,) = own_gates
    groups = gates if "{}" in path else [gates]
    for group in groups:
        yield path.format(group), STORES[what], group


LAYOUTS = tuple(_layouts())

ONNX_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
ONNX_VARIABLE = ("X", "initial_h", "initial_c")
ONNX_VALUES = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints", 8: "strings"}  # AttributeProto.type: its field
ONNX_ATTRIBUTES = {  # direction and activations beside them
    "activation_alpha", "activation_beta", "clip", "hidden_size", "input_forget", "layout",
    "linear_before_reset", "output_sequence",
}  # fmt: skip
ONNX_FUNCTIONS = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}
ONNX_SIDES = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def read(framework: str, source: Any, **choices: Any) -> Parts:
    """A network's parts from a layer, its arrays by name, or a list of either, bottom layer first.

    Choices: cell and reset decide where arrays alone cannot; without them the framework's default is taken.
    reverse and layer choose from a PyTorch module with two directions; prefix is the path of the layer in a
    larger model.
    Raises ValueError for what a Network cannot express, and names it.
    """
    is_sequence = isinstance(source, list | tuple)
    is_stack = is_sequence and not any(map(is_array, source))
    parts = source if is_stack else [source]
    layers = []
    for part in parts:
        layers += _layers(framework, part, **choices)
    kinds = {(layout.cell, layout.reset) for layout, _ in layers}
    if len(kinds) != 1:
        raise ValueError(f"the layers are of several kinds or none, {sorted(kinds)}: a Network has one")
    ((cell, reset),) = kinds
    parameters = {}
    for index, (_, layer) in enumerate(layers):
        for name, array in layer.items():
            parameters[f"{name}_l{index}"] = array
    return Parts(cell, reset, len(layers), parameters)


def read_onnx(node: Any, arrays: Mapping[str, Any], reverse: bool | None = None, **attributes: Any) -> Parts:
    """A network's parts from a node, or the name of its operator, and its arrays W, R and perhaps B.

    With a NodeProto the arrays are the model's initializers by their names, and the attributes its own.
    """
    kind = getattr(node, "op_type", node)
    if kind is not node:
        attributes |= _onnx_attributes(node)
        arrays = _onnx_initializers(node, arrays)
    if kind not in ONNX_FUNCTIONS:
        expected = ", ".join(ONNX_FUNCTIONS)
        raise ValueError(f"the operator is {kind!r}, expected one of {expected}")
    refuse_extra({*arrays} - {"W", "R", "B"})
    direction = plain_name(attributes.pop("direction", "forward"))
    is_reverse = bool(reverse)
    sides = ONNX_SIDES.get(direction, ())
    is_undecided = reverse is None and len(sides) > 1
    if is_reverse not in sides or is_undecided:
        raise ValueError(f"direction is {direction!r} and reverse {reverse}: {TURN}")
    side = sides.index(is_reverse)
    activations = attributes.pop("activations", ())
    if not attributes.keys() <= ONNX_ATTRIBUTES:
        names = ", ".join(attributes)
        raise ValueError(f"attributes are {names}, expected some of {sorted(ONNX_ATTRIBUTES)}")
    functions = _onnx_functions(kind, activations, side, len(sides))
    cell_of(attributes)
    arrays = {name: copied(name, array) for name, array in arrays.items()}
    directions = {len(array) for array in arrays.values()}
    if not directions <= {len(sides)}:
        raise ValueError(f"arrays are {shapes(arrays)}, expected {len(sides)} directions in each: {TURN}")
    of_side = {name: array[side] for name, array in arrays.items()}
    cell = f"rnn_{functions[0]}" if kind == "RNN" else kind.lower()
    resets_before = kind == "GRU" and not attributes.get("linear_before_reset")
    return read("onnx", of_side, cell=cell, reset="before" if resets_before else "after")


def _onnx_attributes(node: Any) -> dict[str, Any]:
    """The attributes of a NodeProto by name."""
    attributes = {}
    for attribute in node.attribute:
        field = ONNX_VALUES[attribute.type]
        attributes[attribute.name] = getattr(attribute, field)
    return attributes


def _onnx_initializers(node: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays that a NodeProto reads, by the operator's names for them, from those of its model."""
    initializers = {}
    for name, path in zip(ONNX_INPUTS, node.input, strict=False):
        if path and name not in ONNX_VARIABLE:
            initializers[name] = arrays.get(path)
    return initializers


def _onnx_functions(kind: str, activations: Iterable, side: int, sides: int) -> list[str]:
    """The functions of one direction, the operator's own if the node names none."""
    default = ONNX_FUNCTIONS[kind]
    count = len(default)
    functions = [plain_name(name) for name in activations] or default * sides
    first = side * count
    of_side = functions[first : first + count]
    is_complete = len(functions) == count * sides
    if not is_complete or of_side not in (default, ["relu"]):
        raise ValueError(f"activations are {functions}: a Network's gates have a sigmoid, its candidate tanh")
    return of_side


def write(framework: str, network: Any) -> list[Arrays]:
    """The arrays of every layer by their paths in that framework; the two biases are added where it has one.

    Raises ValueError for a cell that the framework does not have.
    """
    for layout in LAYOUTS:
        is_of_framework = layout.framework == framework
        if is_of_framework and _computes(layout, network.cell, network.reset):
            layers = [network.layer(index) for index in range(network.layers)]
            return [write_layer(layout, layer._asdict()) for layer in layers]
    cell = f"cell {network.cell!r}"
    if network.cell == "gru":
        cell += f" with reset {network.reset!r}"
    raise ValueError(f"{framework} has no layer that computes {cell}")


def write_onnx(network: Any) -> list[tuple[str, Arrays, dict[str, Any]]]:
    """The operator of each layer, its arrays W, R and B [1,…], and its attributes."""
    kind = network.cell.partition("_")[0].upper()
    settings = {"hidden_size": network.hidden_size}
    if network.cell == "gru":
        settings["linear_before_reset"] = int(network.reset == "after")
    if network.cell == "rnn_relu":
        settings["activations"] = ["Relu"]
    nodes = []
    for layer in write("onnx", network):
        arrays = {name: array[None] for name, array in layer.items()}
        arrays["B"] = arrays["B"].reshape(1, -1)
        nodes.append((kind, arrays, dict(settings)))
    return nodes


def nested(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arrays as a dictionary of dictionaries: "dense_i/kernel" is under "dense_i", then "kernel"."""
    tree = {}
    for path, array in arrays.items():
        *folders, name = path.split("/")
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[name] = array
    return tree


def read_layer(layout: Layout, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """weight_ih [G·H,I], weight_hh [G·H,H], bias_ih and bias_hh [G·H] from the arrays of one layer.

    Without any bias they are 0.  Raises LookupError or ValueError for arrays of another layout.
    """
    own = _own(layout)
    weights = [entry for entry in layout.arrays if entry[1] in WEIGHTS]
    weight_paths = {path for path, *_ in weights}
    if arrays.keys() <= weight_paths:
        layout = layout._replace(arrays=weights)
    parts = dict(_rows(layout, arrays))
    first_weights = parts["weight_hh", layout.gates[0]]
    no_bias = np.zeros_like(first_weights[:, :1])
    for gate in layout.forget:
        parts["bias_hh", gate] = no_bias + 1
    for place in product(NAMES, own.gates):
        parts.setdefault(place, no_bias)
    layer = _joined(own, parts)
    rows, H = layer["weight_hh"].shape
    lengths = {len(array) for array in layer.values()}
    is_whole = lengths == {rows} == {len(own.gates) * H}
    if not is_whole or layer["weight_ih"].size == 0:
        raise ValueError(f"arrays are {shapes(arrays)}, not those of a {layout.cell}")
    return layer


def write_layer(layout: Layout, layer: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays of one layer by their paths in a framework, from the four arrays of a network's layer.

    Both biases are added where the framework has one.  Raises ValueError for a bias that it cannot hold.
    """
    parts = dict(_rows(_own(layout), layer))
    for gate in layout.forget:
        parts["bias_hh", gate] = parts["bias_hh", gate] - 1
    stored = set()  # gates that have a recurrent bias of their own
    for _, names, gates in layout.arrays:
        if "bias_hh" in names:
            stored |= {*gates}
    inner_bias = find_cell(layout.cell, layout.reset).inner_bias
    for gate in {*layout.gates} - stored:
        bias_hh = parts["bias_hh", gate]
        if gate == inner_bias and bias_hh.any():
            raise ValueError(
                f"{layout.framework} has no bias inside the reset gate: bias_hh of {gate!r} is not 0"
            )
        parts["bias_ih", gate] = parts["bias_ih", gate] + bias_hh
    return _joined(layout, parts)


def _own(layout: Layout) -> Layout:
    """The layout of a network's own parameters."""
    gates = find_cell(layout.cell, layout.reset).gates
    arrays = [(name, (name,), gates) for name in NAMES]
    return layout._replace(
        framework="rnnlab", gates=gates, arrays=arrays, is_rows=True, swapped="", forget=""
    )


def _rows(layout: Layout, arrays: Mapping[str, np.ndarray]) -> Iterator[tuple]:
    """((weight or bias, gate), its rows [H,·]) of a layer's arrays; a bias is a column."""
    for path, names, gates in layout.arrays:
        array = arrays[path]
        is_weight = names in WEIGHTS
        has_both = len(names) == 2
        if not is_weight:
            array = array.reshape(2, -1).T if has_both else array[:, None]
        elif not layout.is_rows:
            array = array.T
        if has_both:  # H columns of the recurrent weights, or one of the recurrent bias, stand last
            width = len(array) // len(gates) if is_weight else 1
            blocks = np.split(array, [-width], axis=1)
        else:
            blocks = [array]
        for name, block in zip(names, blocks, strict=True):
            of_gates = np.split(block, len(gates))
            for gate, rows in zip(gates, of_gates, strict=True):
                own_rows = -rows if gate == layout.swapped else rows
                yield (name, gate), own_rows


def _joined(layout: Layout, parts: Mapping[tuple, np.ndarray]) -> Arrays:
    """The arrays of a layer from the rows of every gate: the inverse of _rows."""
    arrays = {}
    for path, names, gates in layout.arrays:
        of_gates = []
        for gate in gates:
            rows = np.hstack([parts[name, gate] for name in names])
            of_gates.append(-rows if gate == layout.swapped else rows)
        array = np.concatenate(of_gates)
        is_bias = names not in WEIGHTS
        if is_bias and len(names) == 1:
            array = array[:, 0]
        elif is_bias or not layout.is_rows:
            array = array.T
        arrays[path] = np.ascontiguousarray(array)
    return arrays


def _layers(
    framework: str,
    source: Any,
    cell: str | None = None,
    reset: str | None = None,
    reverse: bool | None = None,
    layer: int | None = None,
    prefix: str = "",
) -> list[tuple[Layout, Arrays]]:
    """The layout and the parameters of each layer that a source holds."""
    leaves = dict(walk(source))
    start = prefix.replace(".", "/").rstrip("/") + "/" if prefix else ""
    below_prefix = {path: leaf for path, leaf in leaves.items() if path.startswith(start)}
    arrays = {path: leaf for path, leaf in below_prefix.items() if is_array(leaf)}
    frameworks = ALIASES.get(framework, (framework,))
    for layout in LAYOUTS:
        if layout.framework not in frameworks:
            continue
        fits = list(_fits(layout, arrays))
        if not fits:
            continue
        folders = sorted({fit.folder for fit in fits})
        if len(folders) > 1:
            raise ValueError(f"arrays hold several layers, {', '.join(folders)}: choose one by prefix")
        (folder,) = folders
        chosen_cell, chosen_reset = _chosen(leaves, folder, cell, reset, reverse)
        if not _computes(layout, chosen_cell, chosen_reset):
            continue
        paths = {path for path in arrays if path.startswith(folder)}
        selected = _selected(fits, paths, reverse, layer)
        return [(layout, parameters) for parameters in selected]
    refuse_extra(leaves, only_known=True)
    choices = {"cell": cell, "reset": reset, "prefix": prefix}
    chosen = "".join(f"{name} {value!r}, " for name, value in choices.items() if value)
    contents = shapes(arrays)
    if not arrays:
        paths = ", ".join(leaves) or "none"
        contents = f"(none): this {type(source).__name__} holds {paths}"
    raise ValueError(f"{framework} has no layer with {chosen}arrays {contents}")


class _Fit(NamedTuple):
    """A layer among arrays that has a certain layout."""

    folder: str
    is_reverse: bool
    index: int
    paths: set[str]
    parameters: Arrays


def _fits(layout: Layout, arrays: Arrays) -> Iterator[_Fit]:
    """Every layer of that layout."""
    first, *_ = layout.arrays[0]
    pattern = re.compile(rf"(.*/|){re.escape(first)}((?:_l(\d+))?(_reverse)?)")
    for name in arrays:
        match = pattern.fullmatch(name)
        if not match:
            continue
        folder, ending, index, reverse = match.groups()
        paths = set()
        stored = {}
        for path, *_ in layout.arrays:
            full_path = f"{folder}{path}{ending}"
            paths.add(full_path)
            if full_path in arrays:
                stored[path] = copied(full_path, arrays[full_path])
        with suppress(LookupError, ValueError):
            parameters = read_layer(layout, stored)
            yield _Fit(folder, bool(reverse), int(index or 0), paths, parameters)


def _selected(fits: list[_Fit], paths: set[str], reverse: bool | None, layer: int | None) -> list[Arrays]:
    """Parameters of the layers of one direction, or of one layer alone; no other array may stand there."""
    layers = {}
    for fit in fits:
        if reverse is not None or not fit.is_reverse:
            paths = paths - fit.paths
        is_direction = fit.is_reverse == bool(reverse)
        if is_direction and layer in (None, fit.index):
            layers[fit.index] = fit.parameters
    refuse_extra(paths)
    indexes = sorted(layers)
    has_gaps = indexes != list(range(len(indexes)))
    if not layers or (layer is None and has_gaps):
        raise ValueError(f"arrays hold layers {indexes}, expected 0, 1, …: choose one by layer=")
    return [layers[index] for index in indexes]


def _chosen(leaves: Mapping, folder: str, cell: str | None, reset: str | None, reverse: bool | None) -> tuple:
    """The cell and the reset that arguments and the settings of a layer choose; None where neither does."""
    # Flax's RNN has a folder of its own around its cell's
    folder_above = folder.removesuffix("cell/")
    settings = leaves.get(folder_above, {}) | leaves.get(folder, {})
    if reverse is not None:
        settings["bidirectional"] = False
    own_cell = cell_of(settings)
    own_reset = {True: "after", False: "before"}.get(settings.get("reset_after"))
    for chosen, own in ((cell, own_cell), (reset, own_reset)):
        is_decided_twice = None not in (chosen, own)
        if is_decided_twice and chosen != own:
            own_settings = (own_cell, own_reset)
            raise ValueError(
                f"cell and reset are {cell} and {reset}, but the layer's own settings say {own_settings}"
            )
    return cell or own_cell, reset or own_reset


def _computes(layout: Layout, cell: str | None, reset: str | None) -> bool:
    """Is it that cell with that reset, where they are given?"""
    is_cell = cell in (None, layout.cell)
    is_reset = layout.cell != "gru" or reset in (None, layout.reset)
    return is_cell and is_reset
