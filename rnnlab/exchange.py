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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from rnnlab.cells import find_cell
from rnnlab.layer_contents import TURN, cell_of, copied, is_array, plain_name, refuse_extra, shapes, walk

Arrays = dict[str, np.ndarray]
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
STORES = {  # what an array of TABLE is
    "Wi": ("weight_ih",), "Wh": ("weight_hh",), "W": ("weight_ih", "weight_hh"),
    "bi": ("bias_ih",), "bh": ("bias_hh",), "b": ("bias_ih", "bias_hh"),
}  # fmt: skip
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
    for line in TABLE.strip().splitlines()[1:]:
        framework, cells, gates, stored, properties = (column.strip() for column in line.split("|"))
        arrays = []
        for entry in stored.split():
            path, what, own = [*entry.split(":"), gates][:3]
            groups = own if "{}" in path else [own]
            arrays += [(path.format(group), STORES[what], group) for group in groups]
        known = dict(word.partition("=")[::2] for word in properties.split())
        reset = "before" if "before" in known else "after"
        concerned = known.get("swapped", ""), known.get("forget", "")
        for cell in cells.split():
            yield Layout(framework, cell, gates, arrays, reset, "rows" in known, *concerned)


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
    is_stack = isinstance(source, list | tuple) and not any(map(is_array, source))
    layers = []
    for part in source if is_stack else [source]:
        layers += _layers(framework, part, **choices)
    kinds = {(layout.cell, layout.reset) for layout, _ in layers}
    if len(kinds) != 1:
        raise ValueError(f"the layers are of several kinds or none, {sorted(kinds)}: a Network has one")
    parameters = {}
    for index, (_, layer) in enumerate(layers):
        parameters |= {f"{name}_l{index}": array for name, array in layer.items()}
    return Parts(*kinds.pop(), len(layers), parameters)


def read_onnx(node: Any, arrays: Mapping[str, Any], reverse: bool | None = None, **attributes: Any) -> Parts:
    """A network's parts from a node, or the name of its operator, and its arrays W, R and perhaps B.

    With a NodeProto the arrays are the model's initializers by their names, and the attributes its own.
    """
    kind = getattr(node, "op_type", node)
    if kind is not node:
        attributes |= {a.name: getattr(a, ONNX_VALUES[a.type]) for a in node.attribute}
        inputs = zip(ONNX_INPUTS, node.input, strict=False)
        arrays = {name: arrays.get(path) for name, path in inputs if path and name not in ONNX_VARIABLE}
    default = ONNX_FUNCTIONS.get(kind)
    if not default:
        raise ValueError(f"the operator is {kind!r}, expected one of {', '.join(ONNX_FUNCTIONS)}")
    refuse_extra({*arrays} - {"W", "R", "B"})
    direction = plain_name(attributes.pop("direction", "forward"))
    sides = ONNX_SIDES.get(direction, ())
    if bool(reverse) not in sides or (reverse is None and len(sides) > 1):
        raise ValueError(f"direction is {direction!r} and reverse {reverse}: {TURN}")
    side = sides.index(bool(reverse))
    functions = [plain_name(name) for name in attributes.pop("activations", ())] or default * len(sides)
    if not attributes.keys() <= ONNX_ATTRIBUTES:
        raise ValueError(
            f"attributes are {', '.join(attributes)}, expected some of {sorted(ONNX_ATTRIBUTES)}"
        )
    many = len(default)
    own = functions[side * many : (side + 1) * many]
    if len(functions) != many * len(sides) or own not in (default, ["relu"]):
        raise ValueError(f"activations are {functions}: a Network's gates have a sigmoid, its candidate tanh")
    cell_of(attributes)
    arrays = {name: copied(name, array) for name, array in arrays.items()}
    if any(len(array) != len(sides) for array in arrays.values()):
        raise ValueError(f"arrays are {shapes(arrays)}, expected {len(sides)} directions in each: {TURN}")
    cell = {"GRU": "gru", "LSTM": "lstm"}.get(kind, f"rnn_{own[0]}")
    reset = "after" if kind != "GRU" or attributes.get("linear_before_reset") else "before"
    return read("onnx", {name: array[side] for name, array in arrays.items()}, cell=cell, reset=reset)


def write(framework: str, network: Any) -> list[Arrays]:
    """The arrays of every layer by their paths in that framework; the two biases are added where it has one.

    Raises ValueError for a cell that the framework does not have.
    """
    for layout in LAYOUTS:
        if layout.framework == framework and _computes(layout, network.cell, network.reset):
            layers = (network.layer(k)._asdict() for k in range(network.layers))
            return [write_layer(layout, layer) for layer in layers]
    which = f" with reset {network.reset!r}" if network.cell == "gru" else ""
    raise ValueError(f"{framework} has no layer that computes cell {network.cell!r}{which}")


def write_onnx(network: Any) -> list[tuple[str, Arrays, dict[str, Any]]]:
    """The operator of each layer, its arrays W, R and B [1,…], and its attributes."""
    kind = network.cell.partition("_")[0].upper()
    settings = {"hidden_size": network.hidden_size}
    if network.cell == "gru":
        settings["linear_before_reset"] = int(network.reset == "after")
    if network.cell == "rnn_relu":
        settings["activations"] = ["Relu"]
    layers = [{name: a[None] for name, a in arrays.items()} for arrays in write("onnx", network)]
    return [(kind, arrays | {"B": arrays["B"].reshape(1, -1)}, dict(settings)) for arrays in layers]


def nested(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arrays as a dictionary of dictionaries: "dense_i/kernel" is under "dense_i", then "kernel"."""
    tree = {}
    for path, array in arrays.items():
        *folders, name = path.split("/")
        reduce(lambda place, folder: place.setdefault(folder, {}), folders, tree)[name] = array
    return tree


def read_layer(layout: Layout, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """weight_ih [G·H,I], weight_hh [G·H,H], bias_ih and bias_hh [G·H] from the arrays of one layer.

    Without any bias they are 0.  Raises LookupError or ValueError for arrays of another layout.
    """
    own = _own(layout)
    weights = [entry for entry in layout.arrays if "weight" in entry[1][0]]
    has_biases = not {*arrays} <= {path for path, *_ in weights}
    parts = dict(_rows(layout._replace(arrays=layout.arrays if has_biases else weights), arrays))
    zero = np.zeros_like(parts["weight_hh", layout.gates[0]][:, :1])
    parts |= {("bias_hh", gate): zero + 1 for gate in layout.forget}
    layer = _joined(own, {place: parts.get(place, zero) for place in product(NAMES, own.gates)})
    rows, H = layer["weight_hh"].shape
    lengths = {len(array) for array in layer.values()}
    if rows != len(own.gates) * H or lengths != {rows} or not layer["weight_ih"].size:
        raise ValueError(f"arrays are {shapes(arrays)}, not those of a {layout.cell}")
    return layer


def write_layer(layout: Layout, layer: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays of one layer by their paths in a framework, from the four arrays of a network's layer.

    Both biases are added where the framework has one.  Raises ValueError for a bias that it cannot hold.
    """
    parts = dict(_rows(_own(layout), layer))
    parts |= {("bias_hh", gate): parts["bias_hh", gate] - 1 for gate in layout.forget}
    stored = {gate for _, names, gates in layout.arrays if "bias_hh" in names for gate in gates}
    for gate in {*layout.gates} - stored:
        if gate == find_cell(layout.cell, layout.reset).inner_bias and parts["bias_hh", gate].any():
            raise ValueError(
                f"{layout.framework} has no bias inside the reset gate: bias_hh of {gate!r} is not 0"
            )
        parts["bias_ih", gate] = parts["bias_ih", gate] + parts["bias_hh", gate]
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
        if "bias" in names[0]:
            array = array.reshape(2, -1).T if len(names) == 2 else array[:, None]
        elif not layout.is_rows:
            array = array.T
        width = 1 if "bias" in names[0] else len(array) // len(gates)
        columns = [array] if len(names) == 1 else np.split(array, [-width], axis=1)
        for name, block in zip(names, columns, strict=True):
            for gate, rows in zip(gates, np.split(block, len(gates)), strict=True):
                yield (name, gate), -rows if gate == layout.swapped else rows


def _joined(layout: Layout, parts: Mapping[tuple, np.ndarray]) -> Arrays:
    """The arrays of a layer from the rows of every gate: the inverse of _rows."""
    arrays = {}
    for path, names, gates in layout.arrays:
        rows = [np.hstack([parts[name, gate] for name in names]) for gate in gates]
        if layout.swapped and layout.swapped in gates:
            swapped = gates.index(layout.swapped)
            rows[swapped] = -rows[swapped]
        array = np.concatenate(rows)
        if names == ("bias_ih",) or names == ("bias_hh",):
            array = array[:, 0]
        elif "bias" in names[0] or not layout.is_rows:
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
    arrays = {path: leaf for path, leaf in leaves.items() if path.startswith(start) and is_array(leaf)}
    for layout in LAYOUTS:
        is_asked = layout.framework in ALIASES.get(framework, (framework,))
        fits = list(_fits(layout, arrays)) if is_asked else []
        folders = sorted({folder for folder, *_ in fits})
        if len(folders) > 1:
            raise ValueError(f"arrays hold several layers, {', '.join(folders)}: choose one by prefix")
        if not fits or not _computes(layout, *_chosen(leaves, folders[0], cell, reset, reverse)):
            continue
        unknown = {path for path in arrays if path.startswith(folders[0])}
        layers = {}
        for _, is_reverse, index, paths, parameters in fits:
            if reverse is not None or not is_reverse:
                unknown -= paths
            if is_reverse == bool(reverse) and layer in (None, index):
                layers[index] = layout, parameters
        refuse_extra(unknown)
        if not layers or (layer is None and max(layers) >= len(layers)):
            raise ValueError(f"arrays hold layers {sorted(layers)}, expected 0, 1, …: choose one by layer=")
        return [layers[index] for index in sorted(layers)]
    refuse_extra(leaves, only_known=True)
    choices = {"cell": cell, "reset": reset, "prefix": prefix}
    chosen = "".join(f"{name} {value!r}, " for name, value in choices.items() if value)
    raise ValueError(
        f"{framework} has no layer with {chosen}arrays "
        + (shapes(arrays) or f"(none): this {type(source).__name__} holds {', '.join(leaves) or 'none'}")
    )


def _fits(layout: Layout, arrays: Arrays) -> Iterator[tuple]:
    """(folder, is it reverse, index, its paths, its parameters) of every layer of that layout."""
    first = layout.arrays[0][0]
    for name in arrays:
        match = re.fullmatch(rf"(.*/|){re.escape(first)}((?:_l(\d+))?(_reverse)?)", name)
        if match:
            folder, end, index, turned = match.groups()
            paths = {path: f"{folder}{path}{end}" for path, *_ in layout.arrays}
            stored = {path: copied(name, arrays[name]) for path, name in paths.items() if name in arrays}
            with suppress(LookupError, ValueError):
                yield folder, bool(turned), int(index or 0), {*paths.values()}, read_layer(layout, stored)


def _chosen(leaves: Mapping, folder: str, cell: str | None, reset: str | None, reverse: bool | None) -> tuple:
    """The cell and the reset that arguments and the settings of a layer choose; None where neither does."""
    # Flax's RNN has a folder of its own around its cell's
    settings = leaves.get(folder.removesuffix("cell/"), {}) | leaves.get(folder, {})
    if reverse is not None:
        settings["bidirectional"] = False
    own_cell = cell_of(settings)
    own_reset = {True: "after", False: "before"}.get(settings.get("reset_after"))
    for chosen, own in ((cell, own_cell), (reset, own_reset)):
        if None not in (chosen, own) and chosen != own:
            settings = f"the layer's own settings say {(own_cell, own_reset)}"
            raise ValueError(f"cell and reset are {cell} and {reset}, but {settings}")
    return cell or own_cell, reset or own_reset


def _computes(layout: Layout, cell: str | None, reset: str | None) -> bool:
    """Is it that cell with that reset, where they are given?"""
    return cell in (None, layout.cell) and (layout.cell != "gru" or reset in (None, layout.reset))
