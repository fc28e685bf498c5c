"""Frames forged in the answer's process are verdicts on the answer: the judge raises nothing else."""

import json

import numpy as np
import pytest

from nbjudge.exercise import Wrong
from nbjudge.running.conversation import answer
from nbjudge.running.inside import wire
from nbjudge.verdict import Stopped

KINDS = (
    "returned",
    "wrong",
    "changed",
    "unsuitable",
    "not_attempted",
    "raised",
    "memory",
    "forbidden",
    "too_big",
)
ODD = (
    None, True, 5, -1.5, 1e999, "", "text", "\ud800", "\x1b[2J", [], [5], [None], ["a"], ["a", 5, None],
    ["a", None, {}], [["a"], None, None], {}, {"a": 1}, [None, None, None], ["a", "b", "c", "d"],
)  # fmt: skip
FIELDS = ("said", "which", "what", "inside", "type", "text", "where")
VALUES = (
    5, "none", [], {}, ["none", 1], ["array"], ["array", "<f8"], ["array", "<f8", 3], ["array", "<f8", [-1]],
    ["array", "<f8", [True]], ["array", "O", [1]], ["array", "f8,f8", [1]], ["array", "i4,(", [0]],
    ["array", None, [0]], ["array", {"names": ["a"]}, [0]], ["array", "<f8", [0, 1 << 70]],
    ["array", "<f8", [1 << 40]], ["array", "<f3", [0]], ["scalar", "<f8", [0]], ["scalar", "<f8", [1] * 99],
    ["int", "0x" + "f" * 9999], ["int", 5], ["int", "zz"], ["float", "x"], ["float", 5], ["str", 5],
    ["dict", [[[], ["none"]]]], ["dict", [[None, ["none"]]]], ["dict", 5], ["list", 5], ["tuple", "ab"],
    ["rows", "list", "<i4", [1, 2]], ["rows", "list", "<i8", [0, 4]], ["rows", "list", "<i8", [1]],
    ["rows", "set", "<i8", [1, 1]], ["rows", [], "<i8", [1, 1]], ["rows", "list", "<i8", [1 << 40, 0]],
    ["program", 5, 5], ["unknown"], [["none"]],
)  # fmt: skip


def frame(header, buffers=b""):
    text = json.dumps(header).encode()
    return wire.LENGTHS.pack(len(text), len(buffers)) + text + buffers


def judged(message):
    """What the judge makes of a frame: Wrong, Stopped, or a value."""
    try:
        return answer("f", message)
    except (Wrong, Stopped) as raised:
        verdict = raised
    texts = verdict.message, verdict.next_step or "", getattr(verdict, "misconception", None) or ""
    assert [type(text) for text in texts] == [str, str, str]
    return verdict


@pytest.mark.parametrize("kind", [*KINDS, *ODD])
def test_a_field_of_any_type_is_a_verdict(kind):
    for odd in ODD:
        fields = dict.fromkeys(FIELDS, odd)
        whole = {"kind": kind, "value": ["none"]} | fields
        headers = (
            whole,
            {"kind": kind, "value": ["none"]},
            {"kind": kind} | fields,
            {"value": ["none"]} | fields,
        )
        verdicts = [judged(frame(header)) for header in headers]
        assert all(isinstance(verdict, Stopped | Wrong) for verdict in verdicts[2:])
        assert [verdict is None for verdict in verdicts[:2]] == [kind == "returned"] * 2


@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_pack_never_writes_is_a_verdict(value):
    assert isinstance(judged(frame({"kind": "returned", "value": value}, bytes(8))), Stopped)


@pytest.mark.parametrize("header", [[], 5, "x", None, [1], [["value", 1]]])
def test_a_header_that_is_no_object_is_a_verdict(header):
    assert isinstance(judged(frame(header)), Stopped)


def test_bytes_that_are_no_json_are_a_verdict():
    for text in (b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000):
        assert isinstance(judged(wire.LENGTHS.pack(len(text), 0) + text), Stopped)


@pytest.mark.parametrize(
    "value",
    [
        None, True, -(2**4000), 1.5, "\ud800", [1, (2.0, {"a": None, 3: "b"})], np.zeros((0, 3), ">i2"),
        [[1, 2], [3, -4]], [(1, 2), (3, 4)], [(1,), [2]], [[1, 2], [3]], [[True, 0]], [[2**63, 0]], [[]],
        [np.int64(1), 2], ([(0, 1)], [[2]]), [[(0, 1), (2, 3)]],
    ],
    ids=str,
)  # fmt: skip
def test_what_pack_writes_comes_back_as_it_was(value):
    back = answer("f", wire.pack(value, kind="returned"))
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_rows_of_whole_numbers_cross_by_the_hundred_thousand_and_many_more_do_not():
    rows = [(0, layer, step, layer % 32) for layer in range(500) for step in range(100)]
    assert answer("f", wire.pack((1, rows), kind="returned")) == (1, rows)
    numbers = len(rows) * len(rows[0])
    with pytest.raises(wire.TooBig):
        wire.pack([rows] * (1 + wire.MAX_ROW_NUMBERS // numbers), kind="returned")
    shape = [wire.MAX_ROW_NUMBERS // 4, 4]
    twice = ["list", [["rows", "list", "<i8", shape]] * 2]
    assert isinstance(judged(frame({"kind": "returned", "value": twice}, bytes(2 * 32 * shape[0]))), Stopped)


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        ([0.5] * (wire.MAX_PARTS + 1), f"{wire.MAX_PARTS:,}"),
        (np.zeros(wire.MAX_BUFFERS // 8 + 1), f"{wire.MAX_BUFFERS >> 20} MiB"),
        ("a" * wire.MAX_HEADER, f"{wire.MAX_HEADER >> 20} MiB"),
        (1 << wire.MAX_INT_BITS, f"{wire.MAX_INT_BITS} bits"),
    ],
)
def test_what_is_too_big_is_told_by_the_limit_that_it_exceeds(value, limit):
    with pytest.raises(wire.TooBig) as refused:
        wire.pack(value, kind="returned")
    stopped = judged(frame({"kind": "too_big", "what": str(refused.value), "value": ["none"]}))
    assert limit in stopped.message
    others = {"64 MiB", "1 MiB", "10,000"} - {limit}
    assert not any(other in stopped.message for other in others)
