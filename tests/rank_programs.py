"""Programs that tests run on real ranks, through ranks.call: each gets a communicator of MPI."""

import itertools
import os
import resource
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl
from mpi4py import MPI

import rnnlab
from ranks.all_reduce import average_gradients, ring_all_reduce
from ranks.faults import Pen
from ranks.sums import MpiSums
from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.ladder import one_big_gemm
from rnnlab.scaling.settings import RunSettings
from rnnlab.scaling.team import Team
from rnnlab.scaling.train import begin, train
from rnnlab.scaling.training_run import TrainingRun
from rnnlab.training import Model, cross_entropy, loss_and_gradients, mse
from rnnlab.training.task import Batch

T, B, O = 5, 7, 3
SPLITS = [(7,), (3, 4), (0, 7), (2, 2, 3), (1, 5, 1), (2, 2, 2, 1), (4, 1, 0, 2)]
EVERY_STEP, SOME_STEPS = np.ones(T), np.array([0.0, 1, 2, 0, 0])  # which end before the last chunk
KINDS = [
    ("rnn_tanh", 1, None, mse, EVERY_STEP),
    ("gru", 2, 2, cross_entropy, SOME_STEPS),
    ("lstm", 3, 3, mse, EVERY_STEP),
]
ENGINES = (MpiSums, partial(MpiSums, background=False))


def problem(cell, layers, loss, dtype, weight):
    """A model and a batch, the same on every rank."""
    rng = np.random.default_rng(3)
    x, target = rng.normal(size=(T, B, 2)).astype(dtype), rng.normal(size=(T, B, O)).astype(dtype)
    if loss is cross_entropy:
        target = rng.integers(0, O, (T, B))
    return Model.create(cell, 2, 6, O, layers=layers, dtype=dtype, seed=1), Batch(x, target, weight)


def oracle(model, batch, loss, chunk):
    """Loss and gradients by the reference in float64, from the same rounded numbers."""
    wide = lambda array: array.astype("float64") if array.dtype.kind == "f" else array
    model = Model(model.network.astype("float64"), wide(model.weight_out), wide(model.bias_out))
    return loss_and_gradients(model, loss, Batch(*map(wide, batch)), chunk, reference)


def same(a, b):
    """Are two pairs of loss and gradients the same bits?"""
    return a[0] == b[0] and all(np.array_equal(a[1][name], b[1][name]) for name in b[1])


def teams(comm):
    """Communicators of the first 1, 2, 3 … ranks, of which this rank is one."""
    for ranks in range(1, comm.Get_size() + 1):
        part = comm.Split(0 if comm.Get_rank() < ranks else MPI.UNDEFINED, comm.Get_rank())
        if part != MPI.COMM_NULL:
            yield part


def compare(comm):
    """Splits and rings, in one start of the ranks."""
    return compare_splits(comm) | compare_rings(comm)


def compare_splits(comm):
    """Largest errors of any split against the oracle, and whether a second run gave the same bits."""
    errors, equal = {"float32": 0.0, "float64": 0.0, "average": 0.0}, {"again": True, "one rank": True}
    communicators = {part.Get_size(): part for part in teams(comm)}
    for (cell, layers, chunk, loss, weight), dtype in itertools.product(KINDS, ("float32", "float64")):
        model, batch = problem(cell, layers, loss, dtype, weight)
        exact, one = oracle(model, batch, loss, chunk), loss_and_gradients(model, loss, batch, chunk)
        for split, engine in itertools.product(SPLITS, ENGINES if dtype == "float64" else ENGINES[:1]):
            if len(split) not in communicators:
                continue
            sums = engine(communicators[len(split)])
            team = Team(sums.comm, sums, split, Pen(None, 0))
            results = [team.loss_and_gradients(model, loss, batch, chunk, one_big_gemm) for _ in range(2)]
            sums.stop()
            largest = max(relative_error(results[0][1][name], exact[1][name]) for name in exact[1])
            errors[dtype] = max(errors[dtype], largest, abs(results[0][0] / exact[0] - 1))
            equal["again"] &= same(*results)
            equal["one rank"] &= len(split) > 1 or same(results[0], one)
            if dtype == "float64":
                errors["average"] = max(
                    errors["average"], error_of_average(team, model, batch, loss, chunk, exact)
                )
    return {name: np.array(value) for name, value in (errors | equal).items()}


def error_of_average(team, model, batch, loss, chunk, exact):
    """The largest error of average_gradients, from this rank's own mean gradients."""
    mine = team.own(batch)
    own = {name: np.zeros_like(array) for name, array in model.parameters.items()}
    if sequences := mine.x.shape[1]:
        own = loss_and_gradients(model, loss, mine, chunk)[1]
    averages = average_gradients(team.comm, own, sequences)
    return max(relative_error(averages[name], exact[1][name]) for name in own)


def compare_rings(comm):
    """Errors of the ring against MPI's all-reduce, whole numbers first, which leave no rounding."""
    worst, exact, volumes = 0.0, True, []
    for part in teams(comm):
        for size in (0, 1, 2, 3, 5, 1000, 4099):
            whole = np.arange(size) * 7 % 13 + part.Get_rank() + 1.0
            real = np.random.default_rng([size, part.Get_rank()]).normal(size=size)
            sums = np.empty_like(whole), np.empty_like(real)
            part.Allreduce(whole, sums[0])
            part.Allreduce(real, sums[1])
            volumes.append((part.Get_size(), size, ring_all_reduce(part, whole)))
            ring_all_reduce(part, real)
            exact &= np.array_equal(whole, sums[0])
            worst = max(worst, np.abs(real - sums[1]).max(initial=0))
            exact &= len({array.tobytes() for array in part.allgather(real)}) == 1
    return {"worst": np.array(worst), "exact": np.array(exact), "sent": np.array(volumes)}


def wait_for_ever(comm):
    """A receive for which nobody sends, on rank 1."""
    if comm.Get_rank() == 1:
        comm.Recv(np.empty(1), source=0)


def fail_on_rank_1(comm):
    """An error on one rank, while the other one waits for it."""
    if comm.Get_rank() == 1:
        raise KeyError("weight_hh_l7")
    comm.Barrier()


def end_without_a_word(comm):
    """An end of the process that nothing in Python sees."""
    if comm.Get_rank() == 1:
        os._exit(5)
    comm.Barrier()


class OneRankOverflows:
    """A rung whose gradient is not finite on rank 1."""

    forward = staticmethod(one_big_gemm.forward)

    @staticmethod
    def backward(network, saved, dy, dstate):
        dx, dstate, gradients = one_big_gemm.backward(network, saved, dy, dstate)
        if MPI.COMM_WORLD.Get_rank() == 1:
            gradients["bias_hh_l0"] = gradients["bias_hh_l0"] * np.inf
        return dx, dstate, gradients


def message_of(error_type, function):
    """The message that function raises on this rank, as an array."""
    try:
        function()
    except error_type as error:
        return np.array(str(error))
    return np.array("no error")


def refuse(comm, folder):
    """What each rank says of ranks that disagree, of files that are in the way, and of a full disk."""
    settings = RunSettings(task_options={"steps": 6}, ranks=2, hidden_size=5, steps=4, batch=5)
    run = lambda **changes: train(comm, replace(settings, **changes), Pen(None, comm.Get_rank()), print)
    messages = {"place": place()} | disagree(comm.Get_rank(), run)
    messages |= refuse_files(comm.Get_rank(), Path(str(folder)), run)
    return messages | {"overflow": overflow(comm, settings)}


def place():
    """Cores and BLAS threads of this rank."""
    affinity = getattr(os, "sched_getaffinity", lambda process: set())  # macOS has none
    blas = {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}
    return np.array(f"{sorted(affinity(0))} {sorted(blas)}")


def disagree(rank, run):
    """Ranks with different settings and versions."""
    messages = {"ranks": message_of(ValueError, lambda: run(ranks=3))}
    messages["shapes"] = message_of(ValueError, lambda: run(hidden_size=5 + rank))
    version, rnnlab.__version__ = rnnlab.__version__, f"{rnnlab.__version__}.{rank}"
    messages["versions"] = message_of(ValueError, run)
    rnnlab.__version__ = version
    return messages


def refuse_files(rank, folder, run):
    """Checkpoints that are in the way, of another network, missing, or that the disk has no room for."""
    saved = {"checkpoint": str(folder / "c"), "every": 2}
    run(**saved)
    messages = {"in the way": message_of(ValueError, lambda: run(**saved))}
    saved["resume"] = True
    messages["network"] = message_of(ValueError, lambda: run(**saved, hidden_size=6))
    missing = saved | {"checkpoint": str(folder / "no")}
    messages["missing"] = message_of(ValueError, lambda: run(**missing))
    if rank == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    messages["disk"] = message_of(OSError, lambda: run(**saved, steps=8))
    if rank == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return messages


def overflow(comm, settings):
    """A gradient that is not finite on one rank."""
    recipe, pen = replace(settings.recipe(), rung=OneRankOverflows), Pen(None, comm.Get_rank())
    team = Team(comm, MpiSums(comm), settings.shares, pen)
    start = begin(settings, recipe.start(settings.model()), recipe, print)
    return message_of(FloatingPointError, TrainingRun(settings, recipe, team, print, start).advance)
