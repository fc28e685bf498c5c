"""A recurrent network as plain data: its sizes and its parameters, under PyTorch's names and in its layout.

Layer l has weight_ih_l<l> [G·H,I], weight_hh_l<l> [G·H,H], bias_ih_l<l> and bias_hh_l<l> [G·H]; weight_hh and
bias_hh of a cell whose gates do not read the state have no rows.  Above layer 0, I is H.  A cell with vectors
of its own has <vector>_l<l> [H] for each.  A state is a tuple with one array [L,B,H] for each state of the
cell: (h,), or (h, c).
"""

from collections import namedtuple
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from rnnlab import exchange
from rnnlab.cells import Cell, State, find_cell, modes

DTYPES = ("float32", "float64")
RESETS = ("after", "before")
INITS = ("uniform", "orthogonal")


class Layer(NamedTuple):
    """The parameters of one layer; for a cell with vectors there is a field more for each of them, [H]."""

    weight_ih: np.ndarray  # [G·H,I]
    weight_hh: np.ndarray  # [G·H,H]
    bias_ih: np.ndarray  # [G·H]
    bias_hh: np.ndarray  # [G·H]


@dataclass(frozen=True, eq=False)
class Network:
    """Cell, sizes and parameters; made by `Network.create`, never changed in place."""

    cell: str
    input_size: int
    hidden_size: int
    parameters: dict[str, np.ndarray] = field(repr=False)
    layers: int = 1
    reset: str = "after"
    dtype: str = "float32"

    def __post_init__(self):
        _check_choice("reset", self.reset, RESETS)
        _check_choice("dtype", self.dtype, DTYPES)
        _check_parameters(self)

    @classmethod
    def create(
        cls,
        cell: str,
        input_size: int,
        hidden_size: int,
        layers: int = 1,
        *,
        reset: str = "after",
        dtype: str = "float32",
        init: str = "uniform",
        gain: float = 1.0,
        seed: int = 0,
    ) -> "Network":
        """A network with fresh parameters.

        init "uniform": every parameter uniform in ±gain/√H, PyTorch's default at gain 1.  "orthogonal": each
        gate's recurrent weights are gain times a random orthogonal matrix, so |eigenvalues| = gain; input
        weights uniform in ±√(3/I), which keeps unit variance; biases and other vectors 0.
        """
        _check_choice("init", init, INITS)
        _check_choice("dtype", dtype, DTYPES)
        if not np.isfinite(gain):
            raise ValueError(f"gain is {gain}, expected a finite number; 1 is PyTorch's")
        rng = np.random.default_rng(seed)
        draw = _uniform if init == "uniform" else _orthogonal
        parameters = {}
        for name, shape in parameter_shapes(cell, input_size, hidden_size, layers).items():
            values = draw(rng, name, shape, hidden_size, gain)
            parameters[name] = values.astype(dtype)
        return cls(cell, input_size, hidden_size, parameters, layers, reset, dtype)

    @classmethod
    def from_torch(cls, module: Any, **choices: Any) -> "Network":
        """A network with the weights of a PyTorch module or state dictionary; they are copied.

        Choices: cell ("rnn_relu" where a state dictionary of nn.RNN cannot say so; tanh is the default),
        prefix (the module's path in a larger model), reverse and layer (of two directions, one
        layer at a time).
        Sequences are time-major: batch_first=True is refused, its state dictionary read.
        """
        return cls._of(exchange.read("torch", module, **choices))

    @classmethod
    def from_keras(cls, layer: Any, **choices: Any) -> "Network":
        """A network from a Keras 3 layer, or what its get_weights() returns, or a list of layers.

        Choices: cell ("rnn_relu"), reset (of a GRU without biases; "after" is the default).
        """
        return cls._of(exchange.read("keras", layer, **choices))

    @classmethod
    def from_flax(cls, parameters: Any, **choices: Any) -> "Network":
        """A network from a flax.linen cell's variables, a flax.nnx cell or its state, or a list."""
        return cls._of(exchange.read("flax", parameters, **choices))

    @classmethod
    def from_equinox(cls, module: Any, **choices: Any) -> "Network":
        """A network from an Equinox GRUCell or LSTMCell, its arrays by name, or a list of them."""
        return cls._of(exchange.read("equinox", module, **choices))

    @classmethod
    def from_haiku(cls, parameters: Any, **choices: Any) -> "Network":
        """A network from the parameters of a Haiku GRU, LSTM or VanillaRNN (ReLU), or a list."""
        return cls._of(exchange.read("haiku", parameters, **choices))

    @classmethod
    def from_mlx(cls, module: Any, **choices: Any) -> "Network":
        """A network from an MLX RNN, GRU or LSTM, its parameters() or a list of them."""
        return cls._of(exchange.read("mlx", module, **choices))

    @classmethod
    def from_onnx(cls, node: Any, arrays: Mapping[str, Any], **attributes: Any) -> "Network":
        """A network from an ONNX node RNN, GRU or LSTM, and the arrays of its graph by their names.

        In place of the node: its operator's name, arrays W, R and B, its attributes by name.  reverse=True
        takes the direction from the last step to the first: turn x and y along time.
        """
        return cls._of(exchange.read_onnx(node, arrays, **attributes))

    @classmethod
    def _of(cls, parts: exchange.Parts) -> "Network":
        cell, reset, layers, parameters = parts
        weight_ih = parameters["weight_ih_l0"]
        weight_hh = parameters["weight_hh_l0"]
        _, input_size = weight_ih.shape
        _, hidden_size = weight_hh.shape
        return cls(cell, input_size, hidden_size, parameters, layers, reset, str(weight_ih.dtype))

    def to_torch(self) -> dict[str, np.ndarray]:
        """A state dictionary of arrays, copied; torch.from_numpy makes each a tensor for load_state_dict."""
        state_dictionary = {}
        for index, arrays in enumerate(exchange.write("torch", self)):
            for name, array in arrays.items():
                state_dictionary[f"{name}_l{index}"] = array
        return state_dictionary

    def to_keras(self) -> list[list[np.ndarray]]:
        """Lists for each layer's set_weights; a GRU needs reset_after=(network.reset == "after")."""
        return [[*arrays.values()] for arrays in exchange.write("keras", self)]

    def to_flax(self, api: str = "linen") -> list[dict]:
        """The params of each layer's cell, nested; api is "linen" or "nnx"."""
        _check_choice("api", api, ("linen", "nnx"))
        return [exchange.nested(arrays) for arrays in exchange.write(api, self)]

    def to_equinox(self) -> list[dict[str, np.ndarray]]:
        """The arrays of each layer's cell by attribute."""
        return exchange.write("equinox", self)

    def to_haiku(self) -> list[dict]:
        """The parameters of each layer's module by name, such as w_i, w_h and b."""
        return exchange.write("haiku", self)

    def to_mlx(self) -> list[dict[str, np.ndarray]]:
        """The arrays of each layer's module by attribute."""
        return exchange.write("mlx", self)

    def to_onnx(self) -> list[tuple[str, dict[str, np.ndarray], dict[str, Any]]]:
        """A node for each layer: operator, arrays W, R, B, and attributes."""
        return exchange.write_onnx(self)

    @property
    def properties(self) -> Cell:
        """The cell's names and arithmetic."""
        return find_cell(self.cell, self.reset)

    @property
    def gates(self) -> int:
        """Number of gates G."""
        return len(self.properties.gates)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every parameter, such as [G·H,I], by name."""
        return parameter_shapes(self.cell, self.input_size, self.hidden_size, self.layers)

    def layer(self, index: int) -> Layer:
        names = parameter_names(self.cell, index)
        return names._make(map(self.parameters.__getitem__, names))

    def with_parameters(self, parameters: Mapping[str, np.ndarray]) -> "Network":
        """The same network with these parameters in place of its own."""
        return replace(self, parameters=dict(parameters))

    def astype(self, dtype: str) -> "Network":
        _check_choice("dtype", dtype, DTYPES)
        parameters = {name: array.astype(dtype) for name, array in self.parameters.items()}
        return replace(self, parameters=parameters, dtype=dtype)

    def zero_state(self, B: int) -> State:
        """A state of zeros for B sequences, each [L,B,H]."""
        shape = (self.layers, B, self.hidden_size)
        return tuple(np.zeros(shape, self.dtype) for _ in self.properties.states)


@cache
def parameter_names(cell: str, layer: int) -> Layer:
    """A layer's names in place of its parameters; a step of one sequence would feel their making."""
    fields = Layer._fields + find_cell(cell).vectors
    names = [f"{name}_l{layer}" for name in fields]
    if fields == Layer._fields:
        return Layer(*names)
    return namedtuple("Layer", fields)(*names)


def parameter_shapes(cell: str, input_size: int, hidden_size: int, layers: int) -> dict[str, tuple[int, ...]]:
    """Shape of every parameter, under PyTorch's names.  Raises ValueError for impossible sizes."""
    _check_choice("cell", cell, modes())
    sizes = {"input_size": input_size, "hidden_size": hidden_size, "layers": layers}
    for name, size in sizes.items():
        if not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"{name} is {size!r}, expected a whole number of at least 1")
    properties = find_cell(cell)
    rows = len(properties.gates) * hidden_size
    recurrent_rows = len(properties.recurrent_gates) * hidden_size
    weight_hh = (recurrent_rows, hidden_size)
    vectors = [(hidden_size,)] * len(properties.vectors)
    shapes = {}
    for layer in range(layers):
        columns = input_size if layer == 0 else hidden_size
        weight_ih = (rows, columns)
        of_layer = weight_ih, weight_hh, (rows,), (recurrent_rows,), *vectors
        shapes |= zip(parameter_names(cell, layer), of_layer, strict=True)
    return shapes


def check_network(network: Network) -> Network:
    """The network itself.  Raises ValueError for anything else, such as a model with its readout."""
    if not isinstance(network, Network):
        raise ValueError(f"network is {_kind(network)}, expected a Network: that of a Model is model.network")
    return network


def check_input(network: Network, x: np.ndarray, state: State | None = None) -> State:
    """The initial state [L,B,H] (zeros if None).  Raises ValueError if x [T,B,I] or state does not fit.

    Nor may a parameter that has taken another's place: compiled loops would read beyond its end.
    """
    check_shapes(check_network(network))
    check_array("x", x, network.dtype)
    if x.ndim != 3 or x.shape[2] != network.input_size:
        I = network.input_size
        raise ValueError(f"x has shape {x.shape}, expected (T, B, {I}): the network's input_size is {I}")
    T, B, _ = x.shape
    if T == 0 or B == 0:
        raise ValueError(f"x has shape {x.shape}: at least one time step and one sequence are needed")
    if state is None:
        return network.zero_state(B)
    for name, part in _checked_state("state", network, B, state):
        _check_finite(f"state {name}", part)
    return state


def check_gradients(network: Network, T: int, B: int, dy: np.ndarray, dstate: State | None = None) -> State:
    """dstate, parts [L,B,H] (zeros if None).  Raises ValueError if dy [T,B,H] or dstate does not fit.

    NumPy would broadcast a batch of 1, to a wrong gradient without a word.  Values may overflow: the
    training loop judges that.
    """
    check_shapes(network)
    _check_dtype("dy", dy, network.dtype)
    expected = (T, B, network.hidden_size)
    if dy.shape != expected:
        raise ValueError(f"dy has shape {dy.shape}, expected {expected}: one gradient for every output y")
    if dstate is None:
        return network.zero_state(B)
    _checked_state("dstate", network, B, dstate)
    return dstate


def check_cell(network: Network, cells: Collection[str]) -> None:
    """Raise ValueError if the network's cell is not one of these, for which a kernel or a loop is written."""
    if network.cell not in cells:
        expected = ", ".join(cells)
        raise ValueError(f"cell is {network.cell!r}, expected one of {expected}: others have no kernel here")


def merged_bias(network: Network, layer: Layer) -> np.ndarray:
    """The bias [G·H] that is added to the input products [T,B,G·H] of all steps at once: b_ih + b_hh.

    A recurrent bias that a reset gate multiplies is left out: it has to stay with its product.
    """
    bias = layer.bias_ih.copy()
    inner = network.properties.inner_bias_rows(network.hidden_size)
    bias[: len(layer.bias_hh)] += layer.bias_hh
    bias[inner] = layer.bias_ih[inner]
    return bias


def step_vectors(network: Network, layer: Layer) -> np.ndarray:
    """Vectors [V,H] of a step: a bias that a reset gate multiplies with its product, then the cell's own."""
    H = network.hidden_size
    _, _, _, bias_hh, *own = layer
    inner_bias = bias_hh[network.properties.inner_bias_rows(H)]
    return np.concatenate([inner_bias, *own]).reshape(-1, H)


def layer_network(network: Network, index: int) -> Network:
    """The network of one layer alone, which shares the arrays of the whole."""
    layer = network.layer(index)
    parameters = {f"{name}_l0": array for name, array in layer._asdict().items()}
    _, input_size = layer.weight_ih.shape
    return replace(network, input_size=input_size, layers=1, parameters=parameters)


def parameter_count(network: Network) -> int:
    """Number of parameters."""
    return sum(p.size for p in network.parameters.values())


def forward_flops(network: Network, T: int, B: int) -> int:
    """Floating-point operations of the products in T steps of B sequences; a multiply and an add are two.

    Pointwise work, of order T·B·H against T·B·H², is left out, as it is in the field's figures.  Training has
    three products where forward has one: for the inputs' gradients, and for those of the weights.
    """
    weights = 0
    for name, array in network.parameters.items():
        if name.startswith("weight"):
            weights += array.size
    return 2 * weights * T * B


def _checked_state(what: str, network: Network, B: int, state: State) -> list[tuple[str, np.ndarray]]:
    """The parts of a state, or of its gradient, by name."""
    names = network.properties.states
    shape = (network.layers, B, network.hidden_size)
    if not isinstance(state, tuple) or len(state) != len(names):
        parts = ", ".join(names)
        if len(names) == 1:
            parts += ","
        got = _kind(state)
        raise ValueError(f"the {what} of cell {network.cell!r} is a tuple ({parts}), got {got}")
    named = list(zip(names, state, strict=True))
    for name, part in named:
        _check_dtype(f"{what} {name}", part, network.dtype)
        if part.shape != shape:
            raise ValueError(
                f"{what} {name} has shape {part.shape}, expected {shape}: (layers, B, hidden_size)"
            )
    return named


def check_array(what: str, array: np.ndarray, dtype: str) -> None:
    _check_dtype(what, array, dtype)
    _check_finite(what, array)


def _check_dtype(what: str, array: np.ndarray, dtype: str) -> None:
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{what} is {_kind(array)}, expected a NumPy array: np.asarray(...) makes one")
    if array.dtype != dtype:
        raise ValueError(
            f"{what} has dtype {array.dtype}, the network computes in {dtype}: use .astype({dtype!r})"
        )


def _check_finite(what: str, array: np.ndarray) -> None:
    is_finite = np.isfinite(array)
    if not is_finite.all():
        place = np.argwhere(~is_finite)[0]
        index = tuple(int(k) for k in place)
        raise ValueError(f"{what} holds {array[index]} at index {index}: every value must be finite")


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{what} is {value!r}, expected one of {', '.join(choices)}")


def _check_parameters(network: Network) -> None:
    expected = network.shapes.keys()
    missing = expected - network.parameters.keys()
    if missing:
        names = ", ".join(sorted(missing))
        raise ValueError(f"parameters lack {names}")
    extra = network.parameters.keys() - expected
    if extra:
        names = ", ".join(sorted(extra))
        raise ValueError(f"parameters hold {names}, which a {network.layers}-layer network lacks")
    for name, array in network.parameters.items():
        check_array(name, array, network.dtype)
    check_shapes(network)


def check_shapes(network: Network) -> None:
    """Raise ValueError if a parameter that has taken another's place has not its shape."""
    for name, expected in network.shapes.items():
        shape = network.parameters[name].shape
        if shape != expected:
            raise ValueError(f"{name} has shape {shape}, expected {expected}")


def _uniform(rng, name, shape, hidden_size, gain):
    bound = gain / np.sqrt(hidden_size)
    return rng.uniform(-bound, bound, shape)


def _orthogonal(rng, name, shape, hidden_size, gain):
    if len(shape) == 1:
        return np.zeros(shape)
    rows, columns = shape
    if name.startswith("weight_ih"):
        bound = np.sqrt(3 / columns)
        return rng.uniform(-bound, bound, shape)
    gates = rows // hidden_size
    gaussian = rng.normal(size=(gates, hidden_size, hidden_size))
    orthogonal, _ = np.linalg.qr(gaussian)
    return gain * orthogonal.reshape(shape)


def _kind(value: object) -> str:
    """The value's type with its article, such as "an int" or "a tuple of 2"."""
    name = type(value).__name__
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    if isinstance(value, tuple | list):
        return f"{article} {name} of {len(value)}"
    return f"{article} {name}"
