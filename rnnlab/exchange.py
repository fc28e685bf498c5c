"""Weights of other frameworks as a network's parameters, and back: one table of facts, arrays in and out.

Frameworks agree on what a GRU or an LSTM is and differ in how they write it: the order of the gates, weights
[G·H,I] or transposed [I,G·H], one bias or two, the sign of the update gate, the place of the reset gate, a
constant added to the forget gate at run time.  TABLE states these facts, and two functions read them.
No framework is imported: a layer is read through its attributes, its mapping of arrays, or its list of them.

A single bias is stored in bias_ih, and bias_hh is 0; on the way out the two are added.  A run-time forget
bias is stored in bias_hh, so that reading and writing gives back every bit.  float16 and bfloat16
become float32.
docs/frameworks.md has the table with the versions for which each framework's own results were compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from rnnlab.cells import find_cell

Arrays = dict[str, np.ndarray]
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
RESETS = {True: "after", False: "before"}  # Keras's setting
SIDES = {"ih": ("bias_ih",), "hh": ("bias_hh",), "both": ("bias_ih", "bias_hh")}


class Layout(NamedTuple):
    """How a framework stores one layer of a cell: a line of TABLE."""

    framework: str
    cell: str
    gates: str  # their order in its arrays
    weight_ih: str  # path of the array
    weight_hh: str
    biases: tuple[tuple[str, str, str], ...]  # (path, side, gates)
    transposed: bool  # weights are [I,G·H]
    reset: str
    updates_candidate: bool
    forget_bias: float

    def arrays(self) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """(path, its parts of a network's layer, their gates) of every array, weights first."""
        wholes = [(self.weight_ih, ("weight_ih",), self.gates), (self.weight_hh, ("weight_hh",), self.gates)]
        if self.weight_ih == self.weight_hh:
            wholes = [(self.weight_ih, ("weight_ih", "weight_hh"), self.gates)]
        wholes += [(path, SIDES[side], gates) for path, side, gates in self.biases]
        for path, parts, gates in wholes:
            for group in gates if "{}" in path else [gates]:
                yield path.format(group), parts, group

    def signed(self, gate: str, rows: np.ndarray) -> np.ndarray:
        """Rows of a gate, negated for an update gate of the other sign: 1 − σ(a) = σ(−a)."""
        return -rows if self.updates_candidate and gate == "z" else rows


# Paths of arrays: {} stands for a gate that has an array of its own; one path twice is one array, the rows of
# the inputs first.  A bias is path:side, and :gates where it has not all.  Facts: rows, weights are [G·H,I]
# and not [I,G·H]; before, the reset gate; swapped, h' = z·n + (1 − z)·h; forget, 1 is added to the forget
# gate at run time.  Of one framework, the first line that fits is taken: its own default stands before what
# only an argument can say.
TABLE = """
framework| cells            | gates| weight_ih weight_hh          | biases                   | facts
torch    | rnn_tanh rnn_relu| h    | weight_ih weight_hh          | bias_ih:ih bias_hh:hh    | rows
torch    | gru              | rzn  | weight_ih weight_hh          | bias_ih:ih bias_hh:hh    | rows
torch    | lstm             | ifgo | weight_ih weight_hh          | bias_ih:ih bias_hh:hh    | rows
keras    | rnn_tanh rnn_relu| h    | kernel recurrent_kernel      | bias:ih                  |
keras    | gru              | zrn  | kernel recurrent_kernel      | bias:both                |
keras    | gru              | zrn  | kernel recurrent_kernel      | bias:ih                  | before
keras    | lstm             | ifgo | kernel recurrent_kernel      | bias:ih                  |
linen    | rnn_tanh rnn_relu| h    | i/kernel h/kernel            | i/bias:ih                |
linen    | gru              | rzn  | i{}/kernel h{}/kernel        | i{}/bias:ih hn/bias:hh:n |
linen    | lstm             | ifgo | i{}/kernel h{}/kernel        | h{}/bias:ih              |
nnx      | rnn_tanh rnn_relu| h    | dense_i/kernel dense_h/kernel| dense_i/bias:ih          |
nnx      | gru              | rzn  | dense_i/kernel dense_h/kernel| dense_i/bias:ih          |
nnx      | lstm             | ifgo | dense_i/kernel dense_h/kernel| dense_h/bias:ih          |
equinox  | gru              | rzn  | weight_ih weight_hh          | bias:ih bias_n:hh:n      | rows
equinox  | lstm             | ifgo | weight_ih weight_hh          | bias:ih                  | rows
haiku    | rnn_relu         | h    | linear/w linear_1/w          | linear/b:ih linear_1/b:hh|
haiku    | gru              | zrn  | w_i w_h                      | b:ih                     | before swapped
haiku    | lstm             | igfo | linear/w linear/w            | linear/b:ih              | forget
mlx      | rnn_tanh rnn_relu| h    | Wxh Whh                      | bias:ih                  | rows
mlx      | gru              | rzn  | Wx Wh                        | b:ih bhn:hh:n            | rows
mlx      | lstm             | ifgo | Wx Wh                        | bias:ih                  | rows
onnx     | rnn_tanh rnn_relu| h    | W R                          | B:both                   | rows
onnx     | gru              | zrn  | W R                          | B:both                   | rows before
onnx     | gru              | zrn  | W R                          | B:both                   | rows
onnx     | lstm             | iofg | W R                          | B:both                   | rows
"""


def _layouts() -> Iterator[Layout]:
    for line in TABLE.strip().splitlines()[1:]:
        framework, cells, gates, weights, biases, facts = (column.strip() for column in line.split("|"))
        arrays = tuple((*bias.split(":"), gates)[:3] for bias in biases.split())
        reset = "before" if "before" in facts else "after"
        for cell in cells.split():
            yield Layout(
                framework, cell, gates, *weights.split(), arrays, "rows" not in facts, reset,
                "swapped" in facts, float("forget" in facts),
            )  # fmt: skip


LAYOUTS = tuple(_layouts())
FRAMEWORKS = tuple(dict.fromkeys(layout.framework for layout in LAYOUTS))

TURN = "a Network runs one way: choose one with reverse=False or reverse=True, and turn x and y along time"
ALLOWED = {  # settings of a layer or attributes of a node: (values that a Network can have, what others mean)
    "bidirectional": ((False,), f"two directions: {TURN}"),
    "go_backwards": ((False,), "the layer runs from the last step to the first: turn x and y along time"),
    "proj_size": ((0,), "a projection of the state, which a Network does not have"),
    "residual": ((False,), "the input is added to the output, which a Network does not do"),
    "clip": ((None, 0), "gates are clipped, which a Network does not do"),
    "input_forget": ((0,), "input and forget gate are one, which a Network's LSTM does not have"),
    "recurrent_activation": (("sigmoid",), "a Network's gates have a sigmoid"),
    "gate_fn": (("sigmoid", None), "a Network's gates have a sigmoid"),
    "activation": (("tanh", "relu"), "a Network has tanh, or relu without gates"),
    "activation_fn": (("tanh", "relu"), "a Network has tanh, or relu without gates"),
    "nonlinearity": (("tanh", "relu"), "a Network has tanh, or relu without gates"),
    "zero_output_for_mask": ((False,), "sequence lengths: a Network computes every step; read y at its ends"),
}
EXTRA = (  # arrays that a Network has no place for: a part of their names, and what it means
    ("_reverse", f"two directions: {TURN}"),
    ("weight_hr", "a projection of the state"),
    ("norm|scale|gamma|beta|(?:^|/)ln", "layer normalisation"),
    ("^P$|peephole", "peepholes"),
    ("sequence_lens", "sequence lengths: a Network computes every step; read y at each sequence's last one"),
    ("forward_|backward_", f"two directions: {TURN}"),
)
ONNX_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
ONNX_VALUES = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints", 8: "strings"}  # AttributeProto.type: its field
TORCH_NAME = re.compile(r"(weight_[ih]h|bias_[ih]h)(?:_l(\d+))?(_reverse)?$")


class Parts(NamedTuple):
    """What makes a Network."""

    cell: str
    reset: str
    layers: int
    parameters: Arrays


def read(
    framework: str,
    source: Any,
    *,
    cell: str | None = None,
    reset: str | None = None,
    reverse: bool | None = None,
    layer: int | None = None,
    prefix: str = "",
) -> Parts:
    """A network's parts from a layer, its arrays by name, or a list of either, bottom layer first.

    cell and reset decide where arrays alone cannot; without them the framework's default is taken.  reverse
    and layer choose from a PyTorch module with two directions; prefix is the path of the layer in
    a larger model.
    Raises ValueError for what a Network cannot express, and names it.
    """
    is_stack = isinstance(source, list | tuple) and not _is_array(source[0])
    matches = []
    for part in source if is_stack else [source]:
        is_module = hasattr(part, "get_submodule")
        part = _recurrent_module(part, prefix) if is_module else part
        settings = _settings(part)
        _check_settings({**settings, "bidirectional": False} if reverse is not None else settings)
        own_cell = _cell_of(settings)
        wanted = cell or own_cell, reset or RESETS.get(settings.get("reset_after"))
        if framework == "torch":
            layers = _torch_layers(_named(part), "" if is_module else prefix, reverse, layer)
            matches += [_layout_of(framework, arrays, *wanted) for arrays in layers]
        else:
            matches.append(_layout_of(framework, _named(part), *wanted, prefix))
    layout = matches[0][0]
    if any(other is not layout for other, _ in matches):
        kinds = ", ".join(f"{other.cell} with reset {other.reset}" for other, _ in matches)
        raise ValueError(f"the layers are of several kinds ({kinds}): a Network has one")
    parameters = {}
    for index, (_, arrays) in enumerate(matches):
        parameters |= {f"{name}_l{index}": array for name, array in read_layer(layout, arrays).items()}
    return Parts(layout.cell, layout.reset, len(matches), parameters)


def read_onnx(node: Any, arrays: Mapping[str, Any], reverse: bool | None = None, **attributes: Any) -> Parts:
    """A network's parts from a node, or the name of its operator, and its arrays W, R and perhaps B.

    With a NodeProto the arrays are the model's initializers by their names, and the attributes its own.
    """
    kind = getattr(node, "op_type", node)
    if kind is not node:
        inputs = dict(zip(ONNX_INPUTS, node.input, strict=False))
        attributes |= {a.name: getattr(a, ONNX_VALUES[a.type]) for a in node.attribute}
        values = {name: arrays.get(inputs[name], inputs[name]) for name in inputs if inputs[name]}
        arrays = {name: a for name, a in values.items() if name not in ("X", "initial_h", "initial_c")}
    cells = {"RNN": "rnn_tanh", "GRU": "gru", "LSTM": "lstm"}  # with 1, 2 and 3 functions
    if kind not in cells:
        raise ValueError(f"the operator is {kind!r}, expected one of {', '.join(cells)}")
    _refuse_extra(set(arrays) - {"W", "R", "B"})
    direction = _word(attributes.pop("direction", "forward"))
    if direction != "forward" and reverse is None:
        raise ValueError(f"direction is {direction!r}: {TURN}")
    if direction != "bidirectional" and reverse is not None and reverse != (direction == "reverse"):
        raise ValueError(f"reverse is {reverse}, but the node's only direction is {direction!r}")
    side = int(direction == "bidirectional" and bool(reverse))
    count = 1 + [*cells].index(kind)
    functions = [_word(name) for name in attributes.pop("activations", ())]
    functions = functions[side * count :][:count]
    if functions not in ([], ["tanh"], ["relu"], ["sigmoid", "tanh"], ["sigmoid", "tanh", "tanh"]):
        raise ValueError(f"activations are {functions}: a Network's gates have a sigmoid, its candidate tanh")
    _check_settings(attributes)
    cell = "rnn_relu" if functions == ["relu"] else cells[kind]
    reset = "before" if kind == "GRU" and not attributes.get("linear_before_reset", 0) else "after"
    one = {name: _array(array)[side] for name, array in arrays.items()}
    return read("onnx", one, cell=cell, reset=reset)


def write(framework: str, parts: Parts) -> list[Arrays]:
    """The arrays of every layer by their paths in that framework; the two biases are added where it has one.

    Raises ValueError for a cell that the framework does not have.
    """
    for layout in LAYOUTS:
        if (layout.framework, layout.cell) == (framework, parts.cell) and _has_reset(layout, parts.reset):
            layers = [{name: parts.parameters[f"{name}_l{k}"] for name in NAMES} for k in range(parts.layers)]
            return [write_layer(layout, layer) for layer in layers]
    which = f" with reset {parts.reset!r}" if parts.cell == "gru" else ""
    raise ValueError(f"{framework} has no layer that computes cell {parts.cell!r}{which}")


def read_flax(source: Any, **choices: Any) -> Parts:
    """A network's parts from the variables of a linen cell, or a nnx cell or its state."""
    first = source[0] if isinstance(source, list | tuple) else source
    framework = "nnx" if any("dense_" in name for name in _named(first)) else "linen"
    return read(framework, source, **choices)


def write_onnx(parts: Parts) -> list[tuple[str, Arrays, dict[str, Any]]]:
    """The operator of each layer, its arrays W, R and B [1,…], and its attributes."""
    layers = write("onnx", parts)
    attributes = {"hidden_size": layers[0]["R"].shape[1]}
    extra = {
        "gru": {"linear_before_reset": int(parts.reset == "after")},
        "rnn_relu": {"activations": ["Relu"]},
    }
    attributes |= extra.get(parts.cell, {})
    add_axis = lambda arrays: {name: array[None] for name, array in arrays.items()}
    return [(parts.cell.partition("_")[0].upper(), add_axis(arrays), dict(attributes)) for arrays in layers]


def nested(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arrays as a dictionary of dictionaries: "dense_i/kernel" is under "dense_i", then "kernel"."""
    tree = {}
    for path, array in arrays.items():
        *folders, name = path.split("/")
        reduce(lambda place, folder: place.setdefault(folder, {}), folders, tree)[name] = array
    return tree


def read_layer(layout: Layout, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """weight_ih [G·H,I], weight_hh [G·H,H], bias_ih and bias_hh [G·H] from the arrays of one layer."""
    parts = {}
    for path, names, gates in layout.arrays():
        if path not in arrays:
            continue
        is_weight = names[0].startswith("weight")
        array = arrays[path].T if layout.transposed and is_weight else arrays[path]
        blocks = [array]
        if len(names) == 2:
            H = len(array) // len(gates)
            blocks = (array[:, :-H], array[:, -H:]) if is_weight else array.reshape(2, -1)
        for name, block in zip(names, blocks, strict=True):
            rows = zip(gates, np.split(block, len(gates)), strict=True)
            parts |= {(name, gate): layout.signed(gate, part) for gate, part in rows}
    zero = np.zeros_like(parts["weight_hh", layout.gates[0]][:, 0])
    if layout.forget_bias:
        parts["bias_hh", "f"] = zero + zero.dtype.type(layout.forget_bias)
    gates = find_cell(layout.cell, layout.reset).gates
    in_order = lambda name: np.concatenate([parts.get((name, gate), zero) for gate in gates])
    return {name: np.ascontiguousarray(in_order(name)) for name in NAMES}


def write_layer(layout: Layout, layer: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays of one layer by their paths in a framework, from the four arrays of a network's layer.

    Both biases are added where the framework has one.  Raises ValueError for a bias that it cannot hold.
    """
    cell = find_cell(layout.cell, layout.reset)
    parts = {}
    for name, array in layer.items():
        rows = zip(cell.gates, np.split(array, len(cell.gates)), strict=True)
        parts |= {(name, gate): layout.signed(gate, part) for gate, part in rows}
    if layout.forget_bias:
        shift = layer["bias_hh"].dtype.type(layout.forget_bias)
        parts["bias_hh", "f"] = parts["bias_hh", "f"] - shift
    stored = {(name, gate) for _, names, gates in layout.arrays() for name in names for gate in gates}
    for gate in cell.gates:
        if ("bias_hh", gate) in stored and ("bias_ih", gate) in stored:
            continue
        if gate == cell.inner_bias and parts["bias_hh", gate].any():
            raise ValueError(
                f"{layout.framework} has no bias inside the reset gate, and bias_hh of gate {gate!r} is not 0"
            )
        parts["bias_ih", gate] = parts["bias_hh", gate] = parts["bias_ih", gate] + parts["bias_hh", gate]
    arrays = {}
    for path, names, gates in layout.arrays():
        blocks = [np.concatenate([parts[name, gate] for gate in gates]) for name in names]
        if names[0].startswith("weight"):
            whole = np.concatenate(blocks, axis=1)
            arrays[path] = np.ascontiguousarray(whole.T if layout.transposed else whole)
        else:
            is_flat = len(blocks) == 1 or layout.framework == "onnx"
            arrays[path] = np.concatenate(blocks) if is_flat else np.stack(blocks)
    return arrays


def _layout_of(
    framework: str, arrays: Arrays, cell: str | None, reset: str | None, prefix: str = ""
) -> tuple:
    """The first layout that fits, and the arrays by the paths in it."""
    for layout in LAYOUTS:
        is_wanted = layout.framework == framework and cell in (None, layout.cell)
        if not is_wanted or not _has_reset(layout, reset):
            continue
        for place in _places(layout, arrays, prefix.replace(".", "/")):
            below = {
                name.removeprefix(place): array for name, array in arrays.items() if name.startswith(place)
            }
            if _fits(layout, below):
                known = {path for path, *_ in layout.arrays()}
                depth = layout.weight_ih.count("/")
                _refuse_extra({name for name in below if name not in known and name.count("/") == depth})
                return layout, below
    _refuse_extra(set(arrays), only_known=True)
    raise ValueError(f"{framework} has no {cell or 'layer'} with arrays {', '.join(arrays) or '(none)'}")


def _places(layout: Layout, arrays: Arrays, prefix: str) -> list[str]:
    """The folder below which the layout's arrays stand.  Raises ValueError if there are several."""
    path = layout.weight_ih.format(layout.gates[0])
    other = layout.weight_hh.format(layout.gates[0])
    places = (name.removesuffix(path) for name in arrays if f"/{name}".endswith(f"/{path}"))
    matches = [place for place in places if place.startswith(prefix) and f"{place}{other}" in arrays]
    if len(matches) > 1:
        raise ValueError(
            f"arrays hold several layers, {', '.join(matches)}: choose one by prefix, or pass a list"
        )
    return matches


def _fits(layout: Layout, arrays: Arrays) -> bool:
    """True if all weights are there with the number of gates that the cell has, and biases of its kind."""
    weights = [item for item in layout.arrays() if item[1][0].startswith("weight")]
    if any(path not in arrays for path, *_ in weights):
        return False
    path, names, gates = weights[-1]
    rows, columns = arrays[path].shape[:: -1 if layout.transposed else 1]
    if rows % len(gates) or (rows != columns * len(gates) and len(names) == 1):
        return False
    if layout.framework == "keras" and "bias" in arrays:
        return (arrays["bias"].ndim == 2) == (layout.biases[0][1] == "both")
    return True


def _torch_layers(arrays: Arrays, prefix: str, reverse: bool | None, layer: int | None) -> list[Arrays]:
    """The arrays of each layer without its number, from a state dictionary."""
    prefix = prefix.replace(".", "/").rstrip("/") + "/" if prefix else ""
    matches = {name: TORCH_NAME.search(name) for name in arrays if name.startswith(prefix)}
    folders = {name[: match.start()] for name, match in matches.items() if match}
    if len(folders) > 1:
        raise ValueError(f"arrays hold several layers, {', '.join(sorted(folders))}: choose one by prefix")
    below = [name for name in matches if name.rpartition("/")[0] == "".join(folders).rstrip("/")]
    one_way = [] if reverse is not None else [name for name in below if name.endswith("_reverse")]
    _refuse_extra({*one_way, *(name for name in below if not matches[name])})
    layers = {}
    for name in below:
        kind, index, turned = matches[name].groups()
        if bool(turned) == bool(reverse) and layer in (None, int(index or 0)):
            layers.setdefault(int(index or 0), {})[kind] = arrays[name]
    if not layers:
        raise ValueError(f"arrays hold no weight_ih_l{layer or 0}: they are {', '.join(arrays) or 'none'}")
    if layer is None and max(layers) >= len(layers):
        raise ValueError(f"arrays hold layers {sorted(layers)}, expected 0, 1, …: choose one by layer=")
    return [layers[index] for index in sorted(layers)]


def _recurrent_module(module: Any, path: str) -> Any:
    """The module of PyTorch at the path, or the recurrent one in it if there is one alone."""
    module = module.get_submodule(path.replace("/", ".").rstrip("."))
    recurrent = [
        part for part in module.modules() if hasattr(part, "weight_ih_l0") or hasattr(part, "weight_ih")
    ]
    return recurrent[0] if len(recurrent) == 1 else module


def _named(source: Any) -> Arrays:
    """{path: array} of a layer, of nested dictionaries, or of the list that Keras returns."""
    if isinstance(source, list | tuple):
        return dict(zip(("kernel", "recurrent_kernel", "bias"), map(_array, source), strict=False))
    if hasattr(source, "get_weights"):
        variables = zip(source.weights, source.get_weights(), strict=True)
        return {variable.path: _array(array) for variable, array in variables}
    if hasattr(source, "state_dict"):
        source = source.state_dict()
    items = source.items() if isinstance(source, Mapping) else vars(source).items()
    arrays = {}
    for name, value in items:
        path = str(name).replace(".", "/").rstrip("_")
        if path == "rngs" or (path.startswith("_") and not isinstance(source, Mapping)):
            continue
        if _is_array(value):
            arrays[path] = _array(value)
        elif isinstance(value, Mapping) or hasattr(value, "__dict__"):
            arrays |= {f"{path}/{below}": array for below, array in _named(value).items()}
    return arrays


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _array(value: Any) -> np.ndarray:
    """A copy of a framework's array, in float64 if it is, else in float32."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if "bfloat16" in str(getattr(value, "dtype", "")) and hasattr(value, "float"):
        value = value.float()  # NumPy has no such type; every one is a float32
    array = np.array(value)
    if array.dtype.kind not in "fV":  # V: the types of ml_dtypes
        raise ValueError(
            f"an array has dtype {array.dtype}: weights are floating-point numbers here, without scales"
        )
    return array if array.dtype == "float64" else array.astype("float32")


def _settings(source: Any) -> dict[str, Any]:
    """The settings of a layer and of the cell in it by name; arrays have none."""
    if not hasattr(source, "get_config"):
        outer = {} if _is_array(source) or not hasattr(source, "__dict__") else dict(vars(source))
        return outer | _settings(outer["cell"]) if "cell" in outer else outer
    outer = source.get_config()
    if "layers" in outer:
        raise ValueError(
            "the source is a whole model: pass a list of its recurrent layers, bottom layer first"
        )
    if "merge_mode" in outer:
        one = "pass its forward_layer, or the get_weights() of its backward_layer and turn x and y along time"
        raise ValueError(f"two directions: {one}")
    inner = [value.get("config") for value in outer.values() if isinstance(value, Mapping)]
    return {
        name: value for part in (outer, *inner) if isinstance(part, Mapping) for name, value in part.items()
    }


def _check_settings(settings: Mapping[str, Any]) -> None:
    """Raise ValueError for a setting that a Network does not have."""
    for name, (values, why) in ALLOWED.items():
        if name in settings and _word(settings[name]) not in values:
            raise ValueError(f"{name} is {_word(settings[name])!r}: {why}")
    if settings.get("training") and settings.get("dropout"):
        raise ValueError(f"dropout is {settings['dropout']} in training mode: call module.eval() first")


def _word(value: Any) -> Any:
    """The name of a function, or the word itself in small letters; other values as they are."""
    value = getattr(value, "__name__", value)
    value = value.decode() if isinstance(value, bytes) else value
    return value.lower() if isinstance(value, str) else value


def _cell_of(settings: Mapping[str, Any]) -> str | None:
    """The cell without gates that the settings of a layer name; None for others."""
    words = [_word(settings.get(name)) for name in ("nonlinearity", "activation", "activation_fn")]
    word = next((word for word in words if word in ("relu", "tanh")), None)
    if "recurrent_activation" not in settings and "gate_fn" not in settings:
        return word and f"rnn_{word}"
    if word == "relu":
        raise ValueError("the candidate has a relu: a Network's cells with gates have tanh there")
    return None


def _refuse_extra(names: Iterable[str], only_known: bool = False) -> None:
    """Raise ValueError for arrays that have no place in a Network."""
    for name in sorted(names):
        why = next((why for part, why in EXTRA if re.search(part, name)), None)
        if why or not only_known:
            raise ValueError(f"{name} has no place in a Network: {why or 'its cells have no such array'}")


def _has_reset(layout: Layout, reset: str | None) -> bool:
    """Is it that reset, is none wanted, or has the cell none?"""
    return layout.cell != "gru" or reset in (None, layout.reset)
