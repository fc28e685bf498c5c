"""Trained weights that packages ship, beside PyTorch with the same weights and ten steps of random input."""

import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.network import Network

WHEELS = {"g2p-en": "2.1.0", "g2pM": "0.1.2.5", "Resemblyzer": "0.1.4"}
NAMES = {"w_ih": "weight_ih_l0", "w_hh": "weight_hh_l0", "b_ih": "bias_ih_l0", "b_hh": "bias_hh_l0"}


def wheel(folder: Path, name: str) -> zipfile.ZipFile:
    """The wheel of a package, downloaded without what it depends on."""
    line = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "-d",
        folder,
        f"{name}=={WHEELS[name]}",
    ]
    subprocess.run(line, check=True)
    return zipfile.ZipFile(next(folder.glob(f"{name.replace('-', '?')}*.whl")))


class Arrays(pickle.Unpickler):
    """Reads a pickle of NumPy arrays, and nothing else."""

    def find_class(self, module: str, name: str) -> object:
        """The class of that name, if an array is made of it."""
        if module.split(".")[0] == "numpy" and name in ("_reconstruct", "ndarray", "dtype"):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        raise pickle.UnpicklingError(f"{module}.{name} is not an array's")


def checkpoints() -> dict:
    """{name: (cell, state dictionary of every direction)}"""
    import torch

    trained = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with wheel(folder, "g2p-en") as archive:
            text = archive.read(next(n for n in archive.namelist() if n.endswith(".npz")))
        stored = np.load(io.BytesIO(text), allow_pickle=False)
        for part in ("enc", "dec"):
            arrays = {ours: stored[f"{part}_{theirs}"] for theirs, ours in NAMES.items()}
            trained[f"g2p-en, GRU {part}oder"] = [arrays]
        with wheel(folder, "g2pM") as archive:
            text = archive.read(next(n for n in archive.namelist() if n.endswith("np_ckpt.pkl")))
        stored = Arrays(io.BytesIO(text)).load()
        lstm = {name.removeprefix("lstm."): a for name, a in stored.items() if name.startswith("lstm.")}
        trained["g2pM, LSTM of two directions"] = [lstm]
        with wheel(folder, "Resemblyzer") as archive:
            text = archive.read(next(n for n in archive.namelist() if n.endswith("pretrained.pt")))
        state = torch.load(io.BytesIO(text), map_location="cpu", weights_only=True)["model_state"]
        trained["Resemblyzer, LSTM of 3 layers"] = [state]
    return trained


def run() -> dict[str, float]:
    """{name: relative error of y beside PyTorch's}"""
    import torch

    errors = {}
    for name, (state,) in checkpoints().items():
        two_ways = any(key.endswith("_reverse") for key in state)
        for reverse in (False, True) if two_ways else (None,):
            network = Network.from_torch(state, **({} if reverse is None else {"reverse": reverse}))
            kind = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[network.cell]
            module = kind(network.input_size, network.hidden_size, network.layers, bidirectional=two_ways)
            recurrent = {key.removeprefix("lstm."): torch.as_tensor(np.array(a)) for key, a in state.items()}
            module.load_state_dict({key: recurrent[key] for key in module.state_dict()})
            x = np.random.default_rng(1).normal(size=(10, 3, network.input_size)).astype("float32")
            with torch.no_grad():
                theirs = module(torch.from_numpy(x))[0].numpy()
            half = theirs[..., -network.hidden_size :] if reverse else theirs[..., : network.hidden_size]
            y = reference.forward(network, np.ascontiguousarray(x[::-1] if reverse else x))[0]
            error = relative_error(y[::-1] if reverse else y, half)
            errors[name] = max(error, errors.get(name, 0.0))
    return errors
