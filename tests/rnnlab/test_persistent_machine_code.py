"""The machine code of the CUDA C++ kernels: what a step consists of, disassembled without a GPU."""

import re
from collections import Counter
from functools import cache

import machine_code
import pytest

from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import compile_report
from pocketgpu.devices import find
from rnnlab.kernels.persistence.shapes import DIRECTIONS, cluster_shape, grid_shape

H200 = find("H200")
STRONG_LOAD = "LDG.E.128.STRONG.GPU"  # past the first-level cache, 16 bytes
PREFETCH = "CCTL.E.PF2"  # into the second-level cache


pytestmark = pytest.mark.skipif(
    bool(compilers.missing()) or machine_code.disassembler() is None,
    reason=compilers.missing() or f"pip install {machine_code.PACKAGE}",
)


@cache
def codes_of(shape):
    """{kernel: its labels and instructions} for sm_90; one program holds both directions."""
    report = compile_report(shape.source, arch="sm_90", options=shape.options)
    return machine_code.disassembled(report.kernels[0].cubin)


def code_of(shape, direction):
    return codes_of(shape)[f"persistent_{direction}"]


def operation(line):
    """The instruction's name, without its predicate."""
    words = line.split()
    return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]


def loops(lines):
    """Every loop's lines: from a label to a branch back to it."""
    labels = {line: number for number, line in enumerate(lines) if line.startswith(".L_x_")}
    for number, line in enumerate(lines):
        target = re.search(r"\bBRA\b.*`\((\.L_x_\d+)\)", line)
        if target and labels.get(target[1], number) < number:
            yield lines[labels[target[1]] : number + 1]


def step(lines):
    """The loop over time: the longest one, which holds the others."""
    return max(loops(lines), key=len)


def prefetches(cell, direction):
    """Those of a lane in a step: its gates; backward also dy, and h or what the forward pass kept."""
    if direction == "forward":
        return {"rnn_tanh": 4, "gru": 3, "lstm": 4}[cell]  # of four units times sequences, or of one
    return {"rnn_tanh": 3, "gru": 6, "lstm": 6}[cell]


def grid(cell, hidden=512, B=8):
    return grid_shape(cell, hidden, "bfloat16", B, H200)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "cell",
    [pytest.param("rnn_tanh", marks=pytest.mark.slow), pytest.param("gru", marks=pytest.mark.slow), "lstm"],
)
def test_a_step_of_the_grid_has_one_barrier_and_no_fence(cell, direction):
    counts = Counter(map(operation, step(code_of(grid(cell), direction))))
    barriers = {name: count for name, count in counts.items() if name.startswith("BAR")}
    assert sum(barriers.values()) == 1, barriers
    assert not [name for name in counts if name.startswith(("MEMBAR", "CCTL.IVALL", "ERRBAR", "FENCE"))]
    assert counts[PREFETCH] == prefetches(cell, direction)
    assert not [name for name in counts if name.startswith(("LDL", "STL"))]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_waiting_block_loads_in_the_loop_in_which_it_waits(direction):
    """The shortest loop that reads the clock is the polling one."""
    polling = min(
        (
            loop
            for loop in loops(code_of(grid("lstm"), direction))
            if any("GLOBALTIMER" in line for line in loop)
        ),
        key=len,
    )
    names = list(map(operation, polling))
    pairs = grid("lstm").hidden * (1 if direction == "forward" else 4) // 32 // grid("lstm").warps
    assert names.count(STRONG_LOAD) == pairs
    assert not [name for name in names if name.startswith("LDG") and name != STRONG_LOAD]


def test_between_the_last_poll_and_the_publication_nothing_is_loaded_from_global_memory():
    """The chain that every step waits for: numbers, product, barrier, sums, gates, h."""
    lines = step(code_of(grid("lstm"), "forward"))
    names = list(map(operation, lines))
    first = next(number for number, name in enumerate(names) if name.startswith("HMMA"))
    last = next(number for number, name in enumerate(names) if name == "STG.E.STRONG.GPU")
    assert not [name for name in names[first:last] if name.startswith("LDG")]
    before = names[:first]
    assert before.index("LDG.E.U16") < before.index(STRONG_LOAD)  # gates are on their way while a block waits
    assert sum(name.startswith("LDS.128") for name in names[first:last]) == grid("lstm").warps


@pytest.mark.parametrize(
    ("hidden", "forward", "backward"),
    [(256, 1, 2), (512, 2, 4)],  # of 16 bytes, by each lane: 8 or 16 blocks times 8 packets over 64 lanes
)
def test_a_step_of_a_cluster_pushes_sixteen_bytes_a_packet(hidden, forward, backward):
    shape = cluster_shape("lstm", hidden, "bfloat16", H200)
    for direction, packets in zip(DIRECTIONS, (forward, backward), strict=True):
        names = list(map(operation, step(code_of(shape, direction))))
        assert [name for name in names if name.startswith("STAS")] == ["STAS.128"] * packets
        assert sum(name.startswith("BAR") for name in names) == 1  # of a team, or of the block
        assert not [name for name in names if name.startswith(("MEMBAR", "LDL", "STL"))]
        waits = [name for name in names if name.startswith("SYNCS.PHASECHK")]
        assert len(waits) == 2 * (4 if direction == "forward" else 1)  # one look, then the loop of looks
        assert names.count(PREFETCH) == (0 if direction == "forward" else prefetches("lstm", direction))


@pytest.mark.parametrize("bulk", [False, True])
def test_a_cluster_stores_to_global_memory_only_after_it_has_pushed(bulk):
    """And computes no address of its shared memory again, between the last wait and the push."""
    shape = cluster_shape("lstm", 512, "bfloat16", H200, bulk)
    lines = step(code_of(shape, "forward"))
    names = list(map(operation, lines))
    push = "UBLKCP.S.S" if bulk else "STAS.128"
    assert names.count(push) == (1 if bulk else 2)
    assert names.index(push) < names.index("STG.E.U16")
    chain = lines[names.index("SYNCS.PHASECHK.TRANS64.TRYWAIT") : names.index(push)]
    assert not [line for line in chain if "STG" in line or "SR_CgaCtaId" in line]
    fences = [name for name in names if name.startswith(("MEMBAR", "FENCE"))]
    assert fences == (["MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC.S"] if bulk else [])  # the copy engine needs them


def test_warps_that_do_not_pair_up_push_eight_bytes():
    shape = cluster_shape("lstm", 160, "bfloat16", H200)
    assert shape.warps == 5
    names = list(map(operation, step(code_of(shape, "forward"))))
    assert {name for name in names if name.startswith("STAS")} == {"STAS.64"}
