"""One table of programs: simulated ranks give what real ranks give, or refuse what they refuse."""

import json
import operator

import numpy as np
import pytest

from ranks.call import call_on_ranks
from ranks.launch import why_not
from ranks.simulated_ranks import RankError, call

RANKS = 3
OPERATION = """
try:
    from mpi4py import MPI
    if type(comm).__module__.startswith("ranks"):
        MPI = None
except ImportError:
    MPI = None
op = lambda name: getattr(MPI, name) if MPI else name
r, right, left = comm.Get_rank(), (comm.Get_rank() + 1) % 3, (comm.Get_rank() - 1) % 3
"""
# expression or statements that set `out`, and what Open MPI 5.0.11 with mpi4py 4.1.2 gives; None: both refuse
PROGRAMS = {
    "maximum of numbers": ("out = comm.allreduce(4 * r - r * r, op=op('MAX'))", [4, 4, 4]),
    "product of numbers": ("out = comm.allreduce(r + 2, op=op('PROD'))", [24, 24, 24]),
    "own operation": ("out = comm.allreduce(r + 1, op=lambda a, b: 10 * a + b)", [123, 123, 123]),
    "lists are joined": ("out = comm.allreduce([r, r])", [[0, 0, 1, 1, 2, 2]] * 3),
    "minimum of arrays": (
        "out = np.zeros(2, int); comm.Allreduce(np.array([r, -r]), out, op=op('MIN'))",
        [[0, -2]] * 3,
    ),
    "in place": ("out = np.full(2, r + 1.0); comm.Allreduce(op('IN_PLACE'), out)", [[6, 6]] * 3),
    "in the background": (
        "out = np.full(2, r + 1.0); comm.Iallreduce(op('IN_PLACE'), out).wait()",
        [[6, 6]] * 3,
    ),
    "order of memory": (
        "g = np.asfortranarray(np.arange(6.0).reshape(2, 3))\nout = np.zeros((2, 3)); comm.Allreduce(g, out)",
        [[[0, 9, 3], [12, 6, 15]]] * 3,
    ),
    "another shape": (
        "out = np.zeros((2, 3)); comm.Allreduce(np.arange(6.0), out)",
        [[[0, 3, 6], [9, 12, 15]]] * 3,
    ),
    "another dtype": ("out = np.zeros(2); comm.Allreduce(np.ones(2, 'float32'), out)", None),
    "another size": ("out = np.zeros((2, 2)); comm.Allreduce(np.ones(2), out)", None),
    "every other number": ("out = np.zeros(2); comm.Allreduce(np.ones(4)[::2], out)", None),
    "other bytes": ("out = np.zeros(2, '>f8'); comm.Allreduce(np.ones(2, '>f8'), out)", None),
    "the same array": ("out = np.ones(2); comm.Allreduce(out, out)", None),
    "shorter message": (
        "out = np.full(3, 9.0); comm.Sendrecv(np.ones(1) * r, right, recvbuf=out, source=left)",
        [[2, 9, 9], [0, 9, 9], [1, 9, 9]],
    ),
    "any tag": ("q = comm.isend(r, right, tag=7); out = comm.recv(source=left); q.wait()", [2, 0, 1]),
    "both ways": ("out = comm.sendrecv(r, right, 0, None, left)", [2, 0, 1]),
    "a part of an array": (
        "out = np.zeros(4)[::2]; comm.Sendrecv(np.ones(2), right, recvbuf=out, source=left)",
        None,
    ),
}


def source_of(program):
    lines = "\n".join("    " + line for line in (OPERATION + program).splitlines())
    return (
        f"def program(comm):\n{lines}\n"
        "    import json\n"
        "    return np.frombuffer(json.dumps(np.asarray(out).tolist()).encode(), 'uint8')\n"
    )


def results(arrays):
    return [json.loads(array.tobytes()) for array in arrays]


@pytest.mark.parametrize("name", PROGRAMS)
def test_simulated_ranks_give_what_real_ranks_gave(name):
    program, want = PROGRAMS[name]
    names = {"np": np}
    exec(source_of(program), names)
    if want is None:
        with pytest.raises(RankError):
            call(names["program"], [{}] * RANKS)
    else:
        assert results(call(names["program"], [{}] * RANKS)) == want


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, want) in PROGRAMS.items() if want is not None])
def test_real_ranks_give_what_the_table_says(name):
    program, want = PROGRAMS[name]
    arrays = call_on_ranks(source_of(program), [{}] * RANKS, name="program")
    assert results(arrays) == want


@pytest.mark.parametrize("begin", ["recv", "irecv"])
@pytest.mark.parametrize("arguments", [{"buf": 1}, {}], ids=["a number first", "no source"])
def test_a_receive_names_its_source(begin, arguments):
    with pytest.raises(RankError, match="source="):
        call(lambda comm: operator.methodcaller(begin, **arguments)(comm), [{}] * 2)
