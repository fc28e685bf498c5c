"""Training continued by the surviving ranks, with MPI's fault tolerance (ULFM: Open MPI has it, MPI 5.0 not).

Under `mpiexec --with-ft ulfm` a lost rank does not end the others: their next call raises.  Not every rank
notices by itself, so the first one that does revokes the communicator, which makes every pending call raise.
Then all survivors shrink to a communicator without the lost rank, agree on the step from which they continue,
and share the minibatch anew.  A survivor is at most one step ahead of another, because no step ends without a
contribution from every rank; so the state before the last step is all that must be remembered.
"""

from typing import Any

from mpi4py import MPI

from ranks.sums import MpiSums
from rnnlab.scaling.settings import equal_shares
from rnnlab.scaling.team import Team
from rnnlab.scaling.training_run import TrainingRun


def advance_with_survivors(run: TrainingRun) -> None:
    """`Run.advance`, and at the end of the run an agreement; if a rank is lost, continue without it."""
    comm = run.team.comm
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        run.advance()
        if run.point.step == run.settings.steps and not run.must_save:
            comm.Agree(1)  # all survivors leave the loop, or none
    except MPI.Exception as error:
        recover(run, error)


def recover(run: TrainingRun, error: Exception) -> None:
    """Shrink the team to its survivors and go back to the last step that all of them completed.

    Raises RuntimeError if no rank is lost: then the error has another cause.
    """
    run.team.sums.stop()
    run.team.comm.Revoke()
    comm, steps = _survivors(run.team.comm, run.team.rank, run.point.step)
    members = tuple(run.team.members[rank] for rank in sorted(steps))
    lost = sorted({*run.team.members} - {*members})
    if not lost:
        raise RuntimeError(f"MPI failed although no rank is lost: {error}") from error
    _restore_step(run, min(steps.values()))
    shares = equal_shares(run.settings.batch, comm.Get_size())
    run.team = Team(comm, MpiSums(comm, run.settings.overlap), shares, run.team.pen, members)
    run.must_save = True
    if run.team.rank == 0:
        left = len(shares)
        sequences = " + ".join(map(str, shares))
        run.note(
            f"{_subject(lost)} lost; {left} of {left + len(lost)} ranks continue from step "
            f"{run.point.step} with {sequences} sequences"
        )


def _survivors(comm: Any, rank: int, step: int) -> tuple[Any, dict[int, int]]:
    """A communicator of the survivors, and the step of each by its rank in the old one.

    A further rank may be lost meanwhile: then some survivors have the answer and others an error, so all
    agree whether all of them have it, and shrink again if not.
    """
    while True:
        comm = comm.Shrink()
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        try:
            steps = dict(comm.allgather((rank, step)))
            complete = True
        except MPI.Exception:
            steps = {}
            complete = False
            comm.Revoke()
        try:
            if comm.Agree(complete):
                return comm, steps
        except MPI.Exception:
            comm.Revoke()


def _restore_step(run: TrainingRun, step: int) -> None:
    """Return to the step before if this rank is one step ahead of the others."""
    if run.point.step == step:
        return
    run.point = run.last
    del run.point.history.losses[step:], run.point.history.norms[step:]


def _subject(lost: list[int]) -> str:
    """Lost ranks as the beginning of a sentence."""
    numbers = ", ".join(map(str, lost))
    return f"rank {numbers} was" if len(lost) == 1 else f"ranks {numbers} were"
