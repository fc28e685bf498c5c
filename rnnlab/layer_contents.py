"""What layers of frameworks hold: arrays by path, settings by folder, and what a Network does not have.

No framework is imported.  A module of PyTorch is read through state_dict() and get_submodule(), a layer of
Keras through get_weights() and get_config(), any other object through its attributes or as a mapping.
rnnlab/exchange.py knows what the arrays mean.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

TURN = "a Network runs one way: choose one with reverse=False or reverse=True, and turn x and y along time"
CANDIDATE = "a Network has tanh, or relu without gates"
ALLOWED = {  # settings of a layer or attributes of a node: (values that a Network can have, what others mean)
    "bidirectional": ((False,), f"two directions: {TURN}"),
    "merge_mode": ((), "two directions: pass its forward_layer, or the get_weights() of its backward_layer"),
    "layers": ((), "the source is a whole model: pass a list of its recurrent layers, bottom layer first"),
    "cells": ((), "the source is a stack of cells: pass them as a list, bottom layer first"),
    "go_backwards": ((False,), "the layer runs from the last step to the first: turn x and y along time"),
    "reverse": ((False,), "the layer runs from the last step to the first: turn x and y along time"),
    "batch_first": ((False,), "sequences are [T,B,I] here: pass module.state_dict(), and swap x's axes"),
    "proj_size": ((0,), "a projection of the state, which a Network does not have"),
    "residual": ((False,), "the input is added to the output, which a Network does not do"),
    "clip": ((None, 0), "gates are clipped, which a Network does not do"),
    "input_forget": ((0,), "input and forget gate are one, which a Network's LSTM does not have"),
    "recurrent_activation": (("sigmoid",), "a Network's gates have a sigmoid"),
    "gate_fn": (("sigmoid", None), "a Network's gates have a sigmoid"),
    "activation": (("tanh", "relu"), CANDIDATE),
    "activation_fn": (("tanh", "relu"), CANDIDATE),
    "nonlinearity": (("tanh", "relu"), CANDIDATE),
}
SETTINGS = tuple(name for name, (values, _) in ALLOWED.items() if values)  # others are never allowed
SETTINGS += ("training", "dropout", "reset_after")
EXTRA = (  # arrays that a Network has no place for: a part of their names, and what it means
    ("_reverse|forward_|backward_", f"two directions: {TURN}"),
    ("weight_hr", "a projection of the state"),
    (r"_[ih]h\w*_(g|v|orig|mask)$|parametrizations", "weights computed from others: make them plain first"),
    ("packed_params|_all_weight|zero_point", "quantised weights are nothing without their scales"),
    ("norm|scale|gamma|beta|(?:^|/)ln", "layer normalisation"),
    ("^P$|peephole", "peepholes"),
    ("sequence_lens", "sequence lengths: a Network computes every step; read y at each sequence's last one"),
)
KERAS = ("kernel", "recurrent_kernel", "bias")  # what get_weights() returns
PRECISIONS = ("float16", "bfloat16", "float32", "float64")


def walk(source: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, array) of every array in a layer, and (folder, its settings)."""
    if is_array(source):
        yield path.rstrip("/"), source
    elif hasattr(source, "get_submodule"):  # PyTorch
        for name, array in source.state_dict().items():
            module, *_ = name.rpartition(".")
            folder = f"{module}/" if module else ""
            yield name.replace(".", "/"), array
            yield folder.replace(".", "/"), _settings(source.get_submodule(module))
    elif hasattr(source, "get_config"):
        settings = _keras_settings(source)
        for variable, array in zip(source.weights, source.get_weights(), strict=True):
            folder, slash, _ = variable.path.rpartition("/")
            yield variable.path, array
            yield folder + slash, settings
    elif _is_weights_of_keras(source):
        yield from zip(KERAS, source, strict=False)
    elif not hasattr(source, "__name__"):  # neither a function nor a class
        yield path, _settings(source)
        for name, value in _contents(source):
            below = f"{path}{name}/"
            yield from walk(value, below)


def _is_weights_of_keras(source: Any) -> bool:
    """True for what get_weights() returns.  Raises ValueError if it holds more than one layer."""
    is_sequence = isinstance(source, list | tuple)
    if not is_sequence or not source or not is_array(source[0]):
        return False
    if len(source) > len(KERAS):
        expected = ", ".join(KERAS)
        raise ValueError(f"there are {len(source)} arrays, expected {expected} of one layer")
    return True


def _contents(source: Any) -> Iterator[tuple[str, Any]]:
    """(path below it, value) of what a mapping, a sequence or an object holds."""
    is_mapping = isinstance(source, Mapping)
    if is_mapping:
        members = dict(source)
    elif isinstance(source, list | tuple):
        members = dict(enumerate(source))
    else:
        members = getattr(source, "__dict__", {})
    for name, value in members.items():
        below = str(name).replace(".", "/").rstrip("_")
        is_private = below.startswith("_") and not is_mapping
        if below != "rngs" and not is_private:
            yield below, value


def _settings(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in SETTINGS if hasattr(module, name)}


def _keras_settings(layer: Any) -> dict[str, Any]:
    """The settings of a Keras layer and of the cell in it.  Raises ValueError for other layers and models."""
    settings = layer.get_config()
    for value in [*settings.values()]:
        inner = value.get("config") if isinstance(value, Mapping) else None
        if isinstance(inner, Mapping):
            settings = settings | inner
    cell_of(settings)
    if "activation" not in settings:
        raise ValueError(f"{type(layer).__name__} is not a recurrent layer: pass a list of those in it")
    return settings


def cell_of(settings: Mapping[str, Any]) -> str | None:
    """The cell without gates that settings name, or None.

    Raises ValueError for what a Network does not have.
    """
    chosen = {name: plain_name(value) for name, value in settings.items()}
    for name, (values, why) in ALLOWED.items():
        if name in chosen and chosen[name] not in values:
            raise ValueError(f"{name} is {chosen[name]!r:.60}: {why}")
    dropout = settings.get("dropout")
    if settings.get("training") and dropout:
        raise ValueError(f"dropout is {dropout} in training mode: call module.eval() first")
    function = chosen.get("nonlinearity") or chosen.get("activation") or chosen.get("activation_fn")
    has_gates = "recurrent_activation" in chosen or "gate_fn" in chosen
    if not has_gates:
        return function and f"rnn_{function}"
    if function == "relu":
        raise ValueError("the candidate has a relu: a Network's cells with gates have tanh there")
    return None


def plain_name(value: Any) -> Any:
    """The name of a function, or the word itself in small letters; other values as they are."""
    name = getattr(value, "__name__", value)
    if isinstance(name, bytes):
        name = name.decode()
    return name.lower() if isinstance(name, str) else name


def refuse_extra(names: Iterable[str], only_known: bool = False) -> None:
    """Raise ValueError for arrays that have no place in a Network."""
    for name in sorted(names):
        reasons = [why for part, why in EXTRA if re.search(part, name)]
        if not reasons and only_known:
            continue
        reasons.append("its cells have no such array")
        raise ValueError(f"{name} has no place in a Network: {reasons[0]}")


def copied(name: str, value: Any) -> np.ndarray:
    """A copy of a framework's array, in float64 if it is, else in float32."""
    dtype = getattr(value, "dtype", None)
    last_word = str(dtype).rpartition(".")[2]  # torch.float32 has no name of its own
    precision = getattr(dtype, "name", last_word)
    if precision not in PRECISIONS:
        expected = ", ".join(PRECISIONS)
        raise ValueError(f"{name} has dtype {precision}, expected one of {expected}")
    if precision == "bfloat16":
        return np.array(value.tolist(), "float32")  # NumPy has no such type; every one is a float32
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    return np.array(value, "float64" if precision == "float64" else "float32")


def is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def shapes(arrays: Mapping[str, Any]) -> str:
    """Name, precision and shape of every array."""
    descriptions = []
    for name, array in arrays.items():
        sizes = list(array.shape)
        descriptions.append(f"{name} {array.dtype}{sizes}")
    return ", ".join(descriptions)
