"""Networks survive a journey to a file and to PyTorch's names, and a bad file is told by name."""

import os
import pickle
import re

import numpy as np
import pytest

from rnnlab import exchange
from rnnlab.network import Network


def same(a, b):
    sizes = lambda n: (n.cell, n.input_size, n.hidden_size, n.layers, n.reset, n.dtype)
    return sizes(a) == sizes(b) and all(
        np.array_equal(a.parameters[k], b.parameters[k]) for k in a.parameters
    )


@pytest.mark.parametrize(("cell", "reset"), [("rnn_tanh", "after"), ("gru", "before"), ("lstm", "after")])
def test_a_saved_network_loads_as_it_was(tmp_path, cell, reset):
    network = Network.create(cell, 3, 4, 2, reset=reset, dtype="float64")
    exchange.save(network, tmp_path / "network.npz")
    assert same(exchange.load(tmp_path / "network.npz"), network)
    assert os.listdir(tmp_path) == ["network.npz"]


def test_a_state_dict_goes_there_and_back():
    network = Network.create("gru", 3, 4, 3)
    assert same(exchange.from_torch(exchange.to_torch(network), "gru"), network)


def test_a_module_without_biases_gets_zeros():
    network = Network.create("lstm", 3, 4)
    weights = {name: p for name, p in network.parameters.items() if name.startswith("weight")}
    assert not exchange.from_torch(weights, "lstm").layer(0).bias_hh.any()


def test_a_state_dict_that_does_not_fit_is_told_why():
    whole = exchange.to_torch(Network.create("gru", 3, 4, 2))
    for arrays, cell, words in [
        (whole, "lstm", r"weight_hh_l0 has shape \(12, 4\): a lstm of 4 units has 16 rows"),
        (whole, "transformer", "cell is 'transformer', expected one of"),
        (whole | {"weight_ih_l0_reverse": np.zeros((12, 3))}, "gru", "weight_ih_l0_reverse: bidirectional"),
        ({k: v for k, v in whole.items() if k != "bias_hh_l1"}, "gru", "parameters lack bias_hh_l1"),
        (whole | {"weight_ih_l1": np.zeros((12, 3), "float32")}, "gru", "weight_ih_l1 has shape"),
        (
            {k: v for k, v in whole.items() if "bias_ih" not in k},
            "gru",
            "parameters lack bias_ih_l0, bias_ih_l1",
        ),
        ({f"rnn.{k}": v for k, v in whole.items()}, "gru", r"names begin with 'rnn\.': pass the state dict"),
        ({}, "gru", "weight_ih_l0 is missing: the state dict holds nothing"),
    ]:
        with pytest.raises(ValueError, match=words):
            exchange.from_torch(arrays, cell)
    with pytest.raises(ValueError, match="reset is 'before'"):
        exchange.to_torch(Network.create("gru", 3, 4, reset="before"))


@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", pickle.dumps({"cell": "gru"}), b"PK\x03\x04 cut short"],
    ids=["empty", "text", "pickle", "cut short"],
)
def test_a_corrupt_file_is_named(tmp_path, content):
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"network\.npz"):
        exchange.load(path)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "network.npz"
    exchange.save(Network.create("lstm", 3, 8), path)
    whole = path.read_bytes()
    for length in range(1, len(whole), len(whole) // 25):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not a network"):
            exchange.load(path)


def test_another_npz_and_another_format_are_refused(tmp_path):
    path = tmp_path / "network.npz"
    np.savez(path, weights=np.zeros(3))
    with pytest.raises(ValueError, match="is not a network"):
        exchange.load(path)
    np.savez(path, header='{"format": 99, "cell": "gru", "reset": "after"}')
    with pytest.raises(ValueError, match=r"\b99\b.*\b1\b"):
        exchange.load(path)


def test_a_damaged_byte_is_told_or_does_no_harm(tmp_path):
    """Every byte in turn: among them those that hide the biases, which must not come back as zeros."""
    path, network = tmp_path / "network.npz", Network.create("rnn_tanh", 2, 3)
    exchange.save(network, path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        assert outcome(path, network) in ("unharmed", "told")


def outcome(path, network):
    try:
        return "unharmed" if same(exchange.load(path), network) else "other numbers"
    except ValueError as problem:
        return "told" if "network.npz is not a network that rnnlab can load" in str(problem) else str(problem)


def test_no_message_advises_to_load_a_pickle(tmp_path):
    path = tmp_path / "network.npz"
    path.write_bytes(pickle.dumps({"cell": "gru"}))
    with pytest.raises(ValueError, match=r"network\.npz") as text:
        exchange.load(path)
    assert "allow_pickle" not in str(text.value)


def test_what_is_no_ordinary_file_is_neither_replaced_nor_read_as_one(tmp_path):
    pipe, network = tmp_path / "pipe", Network.create("gru", 2, 3)
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(OSError, match=re.escape(str(target))):
            exchange.save(network, target)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError, match=r"cannot read .*: Is a directory"):
        exchange.load(tmp_path)


def test_a_link_stays_a_link_to_the_file_that_is_written(tmp_path):
    file, link, network = tmp_path / "network.npz", tmp_path / "latest.npz", Network.create("gru", 2, 3)
    link.symlink_to(file)
    exchange.save(network, link)
    assert link.is_symlink()
    assert same(exchange.load(file), network)


def test_a_network_from_pytorch_does_not_change_when_pytorch_trains_on():
    arrays = exchange.to_torch(Network.create("gru", 3, 4))
    network = exchange.from_torch(arrays, "gru")
    arrays["bias_ih_l0"] += 1
    assert not np.array_equal(network.parameters["bias_ih_l0"], arrays["bias_ih_l0"])


def test_a_name_too_long_for_the_disk_is_told_with_a_remedy(tmp_path):
    with pytest.raises(OSError, match="n" * 250):
        exchange.save(Network.create("gru", 2, 3), tmp_path / ("n" * 250))


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
        exchange.load(tmp_path / "nothing.npz")


def test_a_folder_that_is_not_there_is_told_with_a_remedy(tmp_path):
    with pytest.raises(OSError, match=r"network\.npz"):
        exchange.save(Network.create("gru", 2, 3), tmp_path / "missing" / "network.npz")


def test_a_full_disk_leaves_the_older_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "network.npz"
    older, newer = (Network.create("gru", 2, 3, seed=seed) for seed in (0, 1))
    exchange.save(older, path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        exchange.save(newer, path)
    monkeypatch.undo()
    assert same(exchange.load(path), older)
    assert os.listdir(tmp_path) == ["network.npz"]
