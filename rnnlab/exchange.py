"""Weights of other frameworks as a network's parameters, and back: one table of facts, arrays in and out.

Frameworks agree on what a GRU or an LSTM is and differ in how they write it: the order of the gates, weights
[G·H,I] or transposed [I,G·H], one bias or two, the sign of the update gate, the place of the reset gate, a
constant added to the forget gate at run time.  LAYOUTS states these facts, and two functions read them.
No framework is imported: a layer is read through its attributes, its mapping of arrays, or its list of them.

A single bias is stored in bias_ih, and bias_hh is 0; on the way out the two are added.  A run-time forget
bias is stored in bias_hh, so that reading and writing gives back every bit.  float16 and bfloat16
become float32.
docs/frameworks.md has the table with the versions for which each framework's own results were compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rnnlab.cells import find_cell

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Layout:
    """How a framework stores one layer of a cell; {} in a path is a gate that has an array of its own."""

    framework: str
    cell: str
    gates: str  # their order in its arrays
    weight_ih: str  # path of the array
    weight_hh: str  # the same path: one array, with the rows of the inputs first
    biases: tuple[tuple[str, str, str], ...]  # (path, "ih", "hh" or "both", gates)
    transposed: bool = True  # weights are [I,G·H]
    reset: str = "after"
    updates_candidate: bool = False  # h' = z·n + (1 − z)·h: the update gate has the other sign
    forget_bias: float = 0.0  # added at run time
    kind: str = ""  # the class or node; "" where it is the cell's own name


def _both(path: str, gates: str) -> tuple[tuple[str, str, str], ...]:
    return ((path, "both", gates),)


def _input(path: str, gates: str) -> tuple[tuple[str, str, str], ...]:
    return ((path, "ih", gates),)


def _of_torch(cell: str, gates: str) -> Layout:
    biases = (("bias_ih", "ih", gates), ("bias_hh", "hh", gates))
    return Layout("torch", cell, gates, "weight_ih", "weight_hh", biases, transposed=False)


def _of_keras(cell: str, gates: str, reset: str = "after") -> Layout:
    biases = _both("bias", gates) if gates == "zrn" and reset == "after" else _input("bias", gates)
    return Layout("keras", cell, gates, "kernel", "recurrent_kernel", biases, reset=reset)


def _of_flax(framework: str, cell: str, gates: str, inputs: str, state: str, *biases) -> Layout:
    return Layout(framework, cell, gates, f"{inputs}/kernel", f"{state}/kernel", biases)


def _of_equinox(cell: str, gates: str, *biases) -> Layout:
    return Layout("equinox", cell, gates, "weight_ih", "weight_hh", biases, transposed=False)


def _of_mlx(cell: str, gates: str, weights: str, *biases) -> Layout:
    return Layout(
        "mlx", cell, gates, f"{weights[0]}x{weights[1:]}", f"{weights[0]}h{weights[1:]}", biases, False
    )


def _of_onnx(cell: str, gates: str, kind: str, reset: str = "after") -> Layout:
    return Layout("onnx", cell, gates, "W", "R", _both("B", gates), False, reset, kind=kind)


# of one framework, the first that fits is taken: its own default stands before what only an argument can say
LAYOUTS = (
    _of_torch("rnn_tanh", "h"),
    _of_torch("rnn_relu", "h"),
    _of_torch("gru", "rzn"),
    _of_torch("lstm", "ifgo"),
    _of_keras("rnn_tanh", "h"),
    _of_keras("rnn_relu", "h"),
    _of_keras("gru", "zrn"),
    _of_keras("gru", "zrn", "before"),
    _of_keras("lstm", "ifgo"),
    _of_flax("linen", "rnn_tanh", "h", "i", "h", ("i/bias", "ih", "h")),
    _of_flax("linen", "rnn_relu", "h", "i", "h", ("i/bias", "ih", "h")),
    _of_flax("linen", "gru", "rzn", "i{}", "h{}", ("i{}/bias", "ih", "rzn"), ("hn/bias", "hh", "n")),
    _of_flax("linen", "lstm", "ifgo", "i{}", "h{}", ("h{}/bias", "ih", "ifgo")),
    _of_flax("nnx", "rnn_tanh", "h", "dense_i", "dense_h", ("dense_i/bias", "ih", "h")),
    _of_flax("nnx", "rnn_relu", "h", "dense_i", "dense_h", ("dense_i/bias", "ih", "h")),
    _of_flax("nnx", "gru", "rzn", "dense_i", "dense_h", ("dense_i/bias", "ih", "rzn")),
    _of_flax("nnx", "lstm", "ifgo", "dense_i", "dense_h", ("dense_h/bias", "ih", "ifgo")),
    _of_equinox("gru", "rzn", ("bias", "ih", "rzn"), ("bias_n", "hh", "n")),
    _of_equinox("lstm", "ifgo", ("bias", "ih", "ifgo")),
    Layout("haiku", "rnn_relu", "h", "linear/w", "linear_1/w",
           (("linear/b", "ih", "h"), ("linear_1/b", "hh", "h"))),
    Layout("haiku", "gru", "zrn", "w_i", "w_h", _input("b", "zrn"), reset="before", updates_candidate=True),
    Layout("haiku", "lstm", "igfo", "linear/w", "linear/w", _input("linear/b", "igfo"), forget_bias=1.0),
    _of_mlx("rnn_tanh", "h", "Wh", ("bias", "ih", "h")),
    _of_mlx("rnn_relu", "h", "Wh", ("bias", "ih", "h")),
    _of_mlx("gru", "rzn", "W", ("b", "ih", "rzn"), ("bhn", "hh", "n")),
    _of_mlx("lstm", "ifgo", "W", ("bias", "ih", "ifgo")),
    _of_onnx("rnn_tanh", "h", "RNN"),
    _of_onnx("rnn_relu", "h", "RNN"),
    _of_onnx("gru", "zrn", "GRU", "before"),
    _of_onnx("gru", "zrn", "GRU"),
    _of_onnx("lstm", "iofg", "LSTM"),
)  # fmt: skip
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
    settings = _settings(source)
    cell = cell or _cell_of(settings)
    reset = reset or _reset_of(settings)
    _check_settings({**settings, "bidirectional": False} if reverse is not None else settings)
    if framework == "torch":
        sources = _torch_layers(_named(source), prefix, reverse, layer)
        prefix = ""
    else:
        is_stack = isinstance(source, list | tuple) and not _is_array(source[0])
        sources = [_named(part) for part in source] if is_stack else [_named(source)]
    matches = [_layout_of(framework, arrays, cell, reset, prefix) for arrays in sources]
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
    cells = {"RNN": "rnn_tanh", "GRU": "gru", "LSTM": "lstm"}
    if kind not in cells:
        raise ValueError(f"the operator is {kind!r}, expected one of {', '.join(cells)}")
    _refuse_extra(set(arrays) - {"W", "R", "B"})
    direction = _word(attributes.pop("direction", "forward"))
    if (direction != "forward") and reverse is None:
        raise ValueError(f"direction is {direction!r}: {TURN}")
    functions = [_word(name) for name in attributes.pop("activations", ())][
        : len(find_cell(cells[kind]).states) + 1
    ]
    if functions not in ([], ["tanh"], ["relu"], ["sigmoid", "tanh"], ["sigmoid", "tanh", "tanh"]):
        raise ValueError(f"activations are {functions}: a Network's gates have a sigmoid, its candidate tanh")
    _check_settings(attributes)
    cell = "rnn_relu" if functions == ["relu"] else cells[kind]
    reset = "before" if kind == "GRU" and not attributes.get("linear_before_reset", 0) else "after"
    side = 1 if reverse and direction == "bidirectional" else 0
    one = {name: _array(array)[side] for name, array in arrays.items()}
    return read("onnx", one, cell=cell, reset=reset)


def write(framework: str, parts: Parts) -> list[Arrays]:
    """The arrays of every layer by their paths in that framework; the two biases are added where it has one.

    Raises ValueError for a cell that the framework does not have.
    """
    fitting = [
        layout
        for layout in LAYOUTS
        if layout.framework == framework and layout.cell == parts.cell and layout.reset in _resets(parts)
    ]
    if not fitting:
        which = f" with reset {parts.reset!r}" if parts.cell == "gru" else ""
        raise ValueError(f"{framework} has no layer that computes cell {parts.cell!r}{which}")
    return [write_layer(fitting[0], _layer(parts.parameters, index)) for index in range(parts.layers)]


def read_flax(source: Any, **choices: Any) -> Parts:
    """A network's parts from the variables of a linen cell, or a nnx cell or its state."""
    first = source[0] if isinstance(source, list | tuple) else source
    framework = "nnx" if any("dense_" in name for name in _named(first)) else "linen"
    return read(framework, source, **choices)


def write_onnx(parts: Parts) -> list[tuple[str, Arrays, dict[str, Any]]]:
    """The operator of each layer, its arrays W, R and B [1,…], and its attributes."""
    kind = next((layout.kind for layout in LAYOUTS if layout.kind and layout.cell == parts.cell), "")
    layers = write("onnx", parts)
    attributes = {"hidden_size": layers[0]["R"].shape[1]}
    if kind == "GRU":
        attributes["linear_before_reset"] = int(parts.reset == "after")
    if parts.cell == "rnn_relu":
        attributes["activations"] = ["Relu"]
    one_way = [{name: array[None] for name, array in arrays.items()} for arrays in layers]
    return [(kind, arrays, dict(attributes)) for arrays in one_way]


def nested(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arrays as a dictionary of dictionaries: "dense_i/kernel" is under "dense_i", then "kernel"."""
    tree = {}
    for path, array in arrays.items():
        *folders, name = path.split("/")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = array
    return tree


def read_layer(layout: Layout, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """weight_ih [G·H,I], weight_hh [G·H,H], bias_ih and bias_hh [G·H] from the arrays of one layer."""
    weight_ih = _gates_first(layout, arrays, layout.weight_ih)
    weight_hh = _gates_first(layout, arrays, layout.weight_hh)
    H = len(weight_hh) // len(layout.gates)
    if layout.weight_ih == layout.weight_hh:
        weight_ih = weight_ih[:, :-H]
        weight_hh = weight_hh[:, -H:]
    biases = {"ih": {}, "hh": {}}
    for path, side, gates in layout.biases:
        if path.format(gates[0]) not in arrays:
            continue
        whole = np.concatenate([arrays[path.format(g)] for g in gates]) if "{}" in path else arrays[path]
        for name, part in (
            zip(("ih", "hh"), whole.reshape(2, -1), strict=True) if side == "both" else [(side, whole)]
        ):
            biases[name] |= _split(part, gates)
    zero = np.zeros(H, weight_ih.dtype)
    if layout.forget_bias:
        biases["hh"]["f"] = zero + weight_ih.dtype.type(layout.forget_bias)
    return {
        "weight_ih": _in_own_order(layout, _split(weight_ih, layout.gates), zero),
        "weight_hh": _in_own_order(layout, _split(weight_hh, layout.gates), zero),
        "bias_ih": _in_own_order(layout, biases["ih"], zero),
        "bias_hh": _in_own_order(layout, biases["hh"], zero),
    }


def write_layer(layout: Layout, layer: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays of one layer by their paths in a framework, from the four arrays of a network's layer."""
    gates = find_cell(layout.cell, layout.reset).gates
    parts = {name: _signed(layout, _split(array, gates)) for name, array in layer.items()}
    if layout.forget_bias:
        shift = layer["bias_hh"].dtype.type(layout.forget_bias)
        parts["bias_hh"]["f"] = parts["bias_hh"]["f"] - shift
    arrays = _written_weights(layout, parts)
    for path, side, of_gates in layout.biases:
        for pattern in _patterns(path, of_gates):
            of_path = [pattern[1]] if pattern[1] else [*of_gates]
            sides = ("ih", "hh") if side == "both" else (side,)
            rows = [np.concatenate([_bias(layout, parts, g, s) for g in of_path]) for s in sides]
            flat = len(rows) == 1 or layout.framework == "onnx"
            arrays[pattern[0]] = np.concatenate(rows) if flat else np.stack(rows)
    return arrays


def _written_weights(layout, parts):
    arrays = {}
    for name, path in (("weight_ih", layout.weight_ih), ("weight_hh", layout.weight_hh)):
        for place, gate in _patterns(path, layout.gates):
            whole = np.concatenate([parts[name][g] for g in (gate or layout.gates)])
            whole = np.ascontiguousarray(whole.T) if layout.transposed else whole
            arrays[place] = np.concatenate([arrays[place], whole]) if place in arrays else whole
    return arrays


def _bias(layout: Layout, parts: Mapping[str, Mapping], gate: str, side: str) -> np.ndarray:
    """What the framework's bias of that side and gate must be; both are added where it has one of the two."""
    sides = {where for _, where, gates in layout.biases if gate in gates}
    if "both" in sides or {"ih", "hh"} <= sides:
        return parts[f"bias_{side}"][gate]
    inner = find_cell(layout.cell, layout.reset).inner_bias
    if gate == inner and parts["bias_hh"][gate].any():
        raise ValueError(
            f"{layout.framework} has no bias inside the reset gate, and bias_hh of gate {gate!r} is not 0"
        )
    return parts["bias_ih"][gate] + parts["bias_hh"][gate]


def _patterns(path: str, gates: str) -> list[tuple[str, str]]:
    """(path, its gate) for every array of a path; the gate is "" where one array holds all."""
    return [(path.format(gate), gate) for gate in gates] if "{}" in path else [(path, "")]


def _gates_first(layout: Layout, arrays: Mapping[str, np.ndarray], path: str) -> np.ndarray:
    """A weight as [G·H,columns]."""
    parts = [arrays[place] for place, _ in _patterns(path, layout.gates)]
    return np.concatenate([part.T if layout.transposed else part for part in parts])


def _split(array: np.ndarray, gates: Iterable[str]) -> Arrays:
    """{gate: its rows} of an array [G·H,…]."""
    gates = [*gates]
    return dict(zip(gates, np.split(array, len(gates)), strict=True))


def _signed(layout: Layout, parts: Arrays) -> Arrays:
    """The same rows, those of an update gate with the other sign negated: 1 − σ(a) = σ(−a)."""
    negated = "z" if layout.updates_candidate else ""
    return {gate: -part if gate == negated else part for gate, part in parts.items()}


def _in_own_order(layout: Layout, parts: Arrays, zero: np.ndarray) -> np.ndarray:
    signed = _signed(layout, parts)
    gates = find_cell(layout.cell, layout.reset).gates
    return np.ascontiguousarray(np.concatenate([signed.get(gate, zero) for gate in gates]))


def _layout_of(framework: str, arrays: Arrays, cell: str | None, reset: str | None, prefix: str) -> tuple:
    """The first layout that fits, and the arrays by the paths in it."""
    candidates = [layout for layout in LAYOUTS if layout.framework == framework]
    for layout in candidates:
        if cell not in (None, layout.cell) or (layout.cell == "gru" and reset not in (None, layout.reset)):
            continue
        for place in _places(layout, arrays, prefix.replace(".", "/")):
            below = {
                name.removeprefix(place): array for name, array in arrays.items() if name.startswith(place)
            }
            if _fits(layout, below):
                known = {name for _, name in _paths(layout)}
                depth = layout.weight_ih.count("/")
                _refuse_extra({name for name in below if name not in known and name.count("/") == depth})
                return layout, below
    _refuse_extra(set(arrays), only_known=True)
    wanted = f" of a {cell}" if cell else ""
    raise ValueError(f"{framework} has no layer{wanted} with arrays {', '.join(arrays) or '(none)'}")


def _places(layout: Layout, arrays: Arrays, prefix: str) -> list[str]:
    """The folder below which the layout's arrays stand.  Raises ValueError if there are several."""
    path = layout.weight_ih.format(layout.gates[0])
    matches = [name.removesuffix(path) for name in arrays if name == path or name.endswith(f"/{path}")]
    matches = [
        place
        for place in matches
        if place.startswith(prefix) and (place + layout.weight_hh.format(layout.gates[0])) in arrays
    ]
    if len(matches) > 1:
        raise ValueError(
            f"arrays hold several layers, {', '.join(matches)}: choose one by prefix, or pass a list"
        )
    return matches


def _paths(layout: Layout) -> Iterator[tuple[str, str]]:
    for path, gates in ((layout.weight_ih, layout.gates), (layout.weight_hh, layout.gates)):
        yield from (("weight", place) for place, _ in _patterns(path, gates))
    for path, side, gates in layout.biases:
        yield from ((side, place) for place, _ in _patterns(path, gates))


def _fits(layout: Layout, arrays: Arrays) -> bool:
    """True if all weights are there with the number of gates that the cell has, and biases of its kind."""
    if any(side == "weight" and place not in arrays for side, place in _paths(layout)):
        return False
    rows, columns = _gates_first(layout, arrays, layout.weight_hh).shape
    joined = layout.weight_ih == layout.weight_hh
    if rows % len(layout.gates) or (rows != columns * len(layout.gates) and not joined):
        return False
    if layout.framework == "keras" and "bias" in arrays:
        return (arrays["bias"].ndim == 2) == (layout.biases[0][1] == "both")
    return True


def _torch_layers(arrays: Arrays, prefix: str, reverse: bool | None, layer: int | None) -> list[Arrays]:
    """The arrays of each layer without its number, from a state dictionary."""
    prefix = prefix.replace(".", "/")
    prefix += "/" * bool(prefix and not prefix.endswith("/"))
    matches = {name: TORCH_NAME.search(name) for name in arrays if name.startswith(prefix)}
    folders = {name[: match.start()] for name, match in matches.items() if match}
    if len(folders) > 1:
        raise ValueError(f"arrays hold several layers, {', '.join(sorted(folders))}: choose one by prefix")
    below = [name for name in matches if name.rpartition("/")[0] == "".join(folders).rstrip("/")]
    _refuse_extra({name for name in below if not matches[name]})
    if reverse is None:
        _refuse_extra({name for name in below if name.endswith("_reverse")})
    layers = {}
    for name in below:
        kind, index, turned = matches[name].groups()
        if bool(turned) == bool(reverse) and layer in (None, int(index or 0)):
            layers.setdefault(int(index or 0), {})[kind] = arrays[name]
    if not layers:
        raise ValueError(f"arrays hold no weight_ih_l{layer or 0}: they are {', '.join(arrays) or 'none'}")
    return [layers[index] for index in sorted(layers)]


def _named(source: Any) -> Arrays:
    """{path: array} of a layer, of nested dictionaries, or of the list that Keras returns."""
    if isinstance(source, list | tuple):
        return dict(zip(("kernel", "recurrent_kernel", "bias"), map(_array, source), strict=False))
    if hasattr(source, "get_weights"):
        return {
            v.path.split("cell/")[-1]: _array(a)
            for v, a in zip(source.weights, source.get_weights(), strict=True)
        }
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
    return array if array.dtype == "float64" else array.astype("float32")


def _settings(source: Any) -> dict[str, Any]:
    """The settings of a layer by name; of a list, those of its layers."""
    if isinstance(source, list | tuple):
        return {name: value for part in source for name, value in _settings(part).items()}
    if hasattr(source, "get_config"):
        return source.get_config()
    return {} if _is_array(source) or not hasattr(source, "__dict__") else dict(vars(source))


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
    """The cell without gates that the settings of a layer name; None where they name none."""
    names = {_word(settings.get(name)) for name in ("nonlinearity", "activation", "activation_fn")}
    gated = any(name in settings for name in ("recurrent_activation", "gate_fn"))
    return "rnn_relu" if "relu" in names and not gated else None


def _reset_of(settings: Mapping[str, Any]) -> str | None:
    after = settings.get("reset_after")
    return None if after is None else "after" if after else "before"


def _refuse_extra(names: Iterable[str], only_known: bool = False) -> None:
    """Raise ValueError for arrays that have no place in a Network."""
    for name in sorted(names):
        why = next((why for part, why in EXTRA if re.search(part, name)), None)
        if why or not only_known:
            raise ValueError(f"{name} has no place in a Network: {why or 'its cells have no such array'}")


def _layer(parameters: Mapping[str, np.ndarray], index: int) -> Arrays:
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return {name: parameters[f"{name}_l{index}"] for name in names}


def _resets(parts: Parts) -> tuple[str, ...]:
    """The resets of layouts that compute this cell: only a GRU has one."""
    return (parts.reset,) if parts.cell == "gru" else ("after", "before")
