"""Messages between the benchmark and a peer arrive whole, or not at all; a peer's failure is an answer."""

import io
import itertools

import numpy as np
import pytest

from bench.peers import memory, wire
from bench.peers.serve import Peer, serve
from bench.workload import problem
from rnncourse.records.workload import Workload


def sent(fields, arrays=None):
    stream = io.BytesIO()
    wire.send(stream, fields, arrays)
    return stream.getvalue()


def test_a_message_arrives_as_it_was_sent():
    arrays = {"x": np.arange(24, dtype="float32").reshape(2, 3, 4)[::-1], "none": np.empty((0, 2))}
    fields, got = wire.receive(io.BytesIO(sent({"request": "prepare", "cell": "gru"}, arrays)))
    assert fields == {"request": "prepare", "cell": "gru"}
    assert [*got] == ["x", "none"]
    for name, array in arrays.items():
        assert got[name].dtype == array.dtype
        assert np.array_equal(got[name], array)
    got["x"][0] = 1  # a peer may need to write where it reads


def test_messages_follow_one_another():
    stream = io.BytesIO(sent({"n": 1}, {"a": np.ones(3)}) + sent({"n": 2}))
    assert [wire.receive(stream)[0]["n"] for _ in range(2)] == [1, 2]
    with pytest.raises(EOFError):
        wire.receive(stream)


@pytest.mark.parametrize("cut", [1, 10, -1, -8])
def test_a_message_that_breaks_off_is_the_end(cut):
    whole = sent({"n": 1}, {"a": np.ones(3)})
    with pytest.raises(EOFError):
        wire.receive(io.BytesIO(whole[:cut]))


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"[1, 2]\n",
        b'{"request": "turn"}\n',
        b'{"arrays": [["x", "object", [1]]]}\n',
        b'{"arrays": [["x", "float32"]]}\n',
        b'{"arrays": 3}\n',
    ],
)
def test_bytes_that_are_no_message_are_refused(line):
    with pytest.raises(ValueError, match=r".") as refused:
        wire.receive(io.BytesIO(line + bytes(64)))
    assert not isinstance(refused.value, EOFError)


def conversation(*questions):
    """What a peer with a clock of our own answers; each reading of the clock is a second later."""
    ticks = itertools.count()
    peer = Peer("bench.peers.ladder_rung", "one_big_gemm", clock=lambda: float(next(ticks)))
    answers = io.BytesIO()
    serve(peer, io.BytesIO(b"".join(questions)), answers)
    answers.seek(0)
    return [wire.receive(answers) for _ in questions]


def test_a_peer_prepares_takes_its_turn_and_tells_its_results():
    task = problem(Workload("lstm", 4, 2, 3, 5))
    prepared, turn, results = conversation(
        sent({"request": "prepare", "cell": "lstm"}, task.inputs),
        sent({"request": "turn", "warm": 2, "repeats": 3}),
        sent({"request": "results"}),
    )
    assert prepared == ({"seconds": 2.0, "step": 1.0}, {})
    assert turn == ({"seconds": [1.0, 1.0, 1.0]}, {})
    assert task.error(results[1]) < 1


def test_a_peer_that_fails_says_so_and_answers_the_next_question(capfd):
    (failed, _), (hello, _) = conversation(
        sent({"request": "turn", "warm": 1, "repeats": 1}), sent({"request": "hello"})
    )
    assert failed["failed"].startswith("TypeError")
    assert hello["packages"]["numpy"] == np.__version__
    assert "Traceback" in capfd.readouterr().err


def test_a_rung_refuses_in_its_own_words():
    task = problem(Workload("lstm", 4, 2, 3, 5))
    peer = Peer("bench.peers.ladder_rung", "gru_textbook")
    answer, _ = peer.prepare({"cell": "lstm"}, task.inputs)
    assert answer == {"refused": "gru_textbook runs gru, not lstm"}


def test_the_highest_memory_of_a_step_is_seen_although_it_is_given_back():
    size = 64 << 20
    used = memory.highest_of(lambda: np.ones(size, "uint8") is None)
    assert used is None or 0.95 * size <= used < 2 * size  # the system counts pages roughly


def test_without_a_system_that_tells_memory_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "STATUS", tmp_path / "nowhere")
    assert memory.highest_of(lambda: None) is None
