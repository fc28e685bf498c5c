"""Networks from and to files and PyTorch.

A file is an npz with the parameters and a header; nothing in it is a pickle, so reading one runs no code.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from rnnlab.cells import find_cell, modes
from rnnlab.files import write_whole
from rnnlab.network import Network

FORMAT = 1  # of the files that save writes
# what json, zipfile and NumPy raise on a damaged archive
UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    OSError,
    EOFError,
    BadZipFile,
    NotImplementedError,
    zlib.error,
)


def to_torch(network: Network) -> dict[str, np.ndarray]:
    """The state dict of the torch.nn.RNN, GRU or LSTM that computes the same, weight_ih_l0 [G*H,I].

    Raises ValueError for a GRU that resets before its product, which PyTorch's cannot.
    """
    if network.cell == "gru" and network.reset == "before":
        raise ValueError(
            "reset is 'before': torch.nn.GRU resets after the product, which is another function"
        )
    return {name: parameter.copy() for name, parameter in network.parameters.items()}


def from_torch(state_dict: Mapping[str, np.ndarray], cell: str) -> Network:
    """The network of a torch.nn state dict as arrays, {k: v.numpy() for k, v in m.state_dict().items()}.

    They have PyTorch's names and shapes, `weight_ih_l0 [G·H,I]` and so on.

    Raises ValueError for a missing, surplus or misshapen array, and for what this course does not build.
    """
    if cell not in modes():
        raise ValueError(f"cell is {cell!r}, expected one of {', '.join(modes())}")
    arrays = {name: np.array(value) for name, value in state_dict.items()}  # copies: PyTorch trains in place
    _refuse_what_is_not_built(arrays)
    layers = sum(name.startswith("weight_hh_l") for name in arrays)
    rows, hidden_size = arrays["weight_hh_l0"].shape
    if rows != len(find_cell(cell).gates) * hidden_size:
        expected = f"a {cell} of {hidden_size} units has {len(find_cell(cell).gates) * hidden_size} rows"
        raise ValueError(f"weight_hh_l0 has shape {(rows, hidden_size)}: {expected}")
    if not any(name.startswith("bias") for name in arrays):  # made with bias=False
        zeros = np.zeros(rows, arrays["weight_hh_l0"].dtype)
        arrays |= {f"bias_{side}_l{k}": zeros for side in ("ih", "hh") for k in range(layers)}
    input_size, dtype = arrays["weight_ih_l0"].shape[1], str(arrays["weight_hh_l0"].dtype)
    return Network(cell, input_size, hidden_size, arrays, layers, "after", dtype)


def _refuse_what_is_not_built(arrays: dict[str, np.ndarray]) -> None:
    for name in arrays:
        if "_reverse" in name or "weight_hr" in name:
            raise ValueError(f"{name}: bidirectional networks and projections are not built here")
        if (prefix := name.rpartition(".")[0]) and name.endswith("weight_ih_l0"):
            raise ValueError(f"names begin with '{prefix}.': pass the state dict of that module alone")
    for name in ("weight_ih_l0", "weight_hh_l0"):
        if name not in arrays or arrays[name].ndim != 2:
            shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
            raise ValueError(f"a matrix {name} is missing: the state dict holds {shapes or 'nothing'}")


def save(network: Network, path: str | Path) -> None:
    """Write the network to an npz file, which appears whole or not at all; until then an older one stays."""
    path = Path(path).resolve()  # behind a link stands the file that is meant
    if path.exists() and not path.is_file():
        raise OSError(f"cannot write {path}: it is no ordinary file; choose another name")
    header = {"format": FORMAT, "cell": network.cell, "reset": network.reset}
    archive = BytesIO()
    np.savez(archive, header=json.dumps(header), **network.parameters)
    try:
        write_whole(path, archive.getvalue())
    except OSError as problem:
        remedy = "choose a folder that is writable and has room"
        raise OSError(f"cannot write {path}: {problem.strerror or problem}; {remedy}") from problem


def load(path: str | Path) -> Network:
    """The network that `save` wrote.  Raises ValueError, naming the file, if it holds anything else."""
    try:
        content = Path(path).read_bytes()
    except OSError as problem:  # missing, a folder, not permitted: its type says which
        remedy = "is the path right, and yours to read?"
        raise type(problem)(f"cannot read {path}: {problem.strerror or problem}; {remedy}") from problem
    try:
        return _unpacked(content)
    except UNREADABLE as problem:
        raise ValueError(
            f"{path} is not a network that rnnlab can load: {problem}; save it again"
        ) from problem


def _unpacked(content: bytes) -> Network:
    if not content.startswith(b"PK\x03\x04"):  # np.load would offer to unpickle it, which is no remedy
        raise ValueError("it is no npz archive")
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']}, this rnnlab reads {FORMAT}")
    network = replace(from_torch(arrays, header["cell"]), reset=header["reset"])
    if lost := network.parameters.keys() - arrays.keys():  # biases that from_torch would take for zeros
        raise ValueError(f"it lacks {', '.join(sorted(lost))}")
    return network
