"""Where submissions are graded: on this machine or on a Dask cluster.

Each engine takes jobs and yields (job, outcome) in whatever order they end. The judge is the same everywhere,
and so are seeds and verdicts.
"""

import queue
import sys
import tempfile
import threading
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from nbjudge.classroom.judge import Judge, empty_outcome, given_up
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.running.family import Family, adopt_orphans
from nbjudge.running.sandbox import MEMORY

AHEAD = 4  # jobs for each worker of a cluster that are sent before the first has ended
PATIENCE = 20  # seconds for a scheduler to answer, and for its first worker to come
HOLDS = MEMORY + (512 << 20)  # bytes for an answer at its limit and its judge

Graded = tuple[dict, dict | BaseException]
Engine = Callable[[Iterable[dict]], Iterator[Graded]]


def most_jobs() -> int:
    """Judges that this machine, or its part for this process, has cores and memory for."""
    room = min(psutil.virtual_memory().available, current().memory_limit())
    return max(1, min(current().usable_cores(), int(room // HOLDS)))


def local(count: int) -> Engine:
    """The engine of this machine, with so many judges at a time."""
    return lambda jobs: _locally(list(jobs), count)


def _locally(jobs: list[dict], count: int, judge: Callable[[], Judge] = Judge) -> Iterator[Graded]:
    waiting = deque(jobs)
    ready = queue.SimpleQueue()
    judges = [judge() for _ in range(min(count, len(jobs)))]
    adopt_orphans(True)  # an answer in plain mode can end its judge, and leave processes behind
    family = Family()
    threads = [threading.Thread(target=_work, args=(judge, waiting, ready), daemon=True) for judge in judges]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            yield ready.get()
    finally:  # also where the reader stops early: no judge may outlive the run
        waiting.clear()
        for judge in judges:
            judge.close()
        for thread in threads:
            thread.join()
        family.end()
        adopt_orphans(False)


def _work(judge: Judge, waiting: deque, ready: queue.SimpleQueue) -> None:
    """Grade jobs until none is left."""
    with suppress(IndexError):
        while True:
            job = waiting.popleft()
            ready.put((job, _graded(judge, job)))
    judge.end()


def _graded(judge: Judge, job: dict) -> dict | BaseException:
    """The outcome of a job, or why it has none; an IndexError in it must not look like the end."""
    try:
        return judge.grade(job)
    except Exception as error:
        return error


def dask(address: str) -> Engine:
    """The engine of a Dask cluster, by the address of its scheduler. Raises Unusable where none answers."""
    try:
        from distributed import Client
    except ImportError:
        raise Unusable(f"--engine dask needs Dask: {sys.executable} -m pip install distributed") from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise Unusable(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        sentence = f"the Dask scheduler at {address} has no workers: start some, then grade."
        raise Unusable(sentence) from None
    return lambda jobs: _on_cluster(client, jobs)


def _on_cluster(client: object, jobs: Iterable[dict]) -> Iterator[Graded]:
    from distributed import as_completed

    waiting = deque(jobs)
    running = {}
    ended = as_completed()

    def send() -> None:
        """Keep all present workers busy; without any, one job waits for the first."""
        while waiting and len(running) < max(1, AHEAD * sum(client.nthreads().values())):
            job = waiting.popleft()
            content = Path(job["path"]).read_bytes()
            future = client.submit(grade_elsewhere, job, content, pure=False)
            running[future] = job
            ended.add(future)

    with client:
        send()
        for future in ended:
            job = running.pop(future)
            yield job, _outcome(future, job)
            send()


def _outcome(future: object, job: dict) -> dict | BaseException:
    """What a job has come to on a cluster."""
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker:  # by this job, or so it seems: the others are graded
        return empty_outcome(job) | {"exercises": given_up(job)}
    except Unusable as unusable:
        return unusable
    except (Exception, CancelledError) as error:
        return Unusable(
            f"the Dask cluster failed at the notebook of {job['student']} ({type(error).__name__}: {error}). "
            "What was graded before is kept: mend the cluster, then go on with --resume."
        )


def grade_elsewhere(job: dict, content: bytes) -> dict:
    """The outcome of a job on a machine that has only the notebook's content."""
    with tempfile.NamedTemporaryFile(suffix=".ipynb") as file:
        file.write(content)
        file.flush()
        judge = _judge_of_thread()
        return judge.grade(job | {"path": file.name})


_threads = threading.local()


def _judge_of_thread() -> Judge:
    """A judge for each thread of a cluster's worker; it ends when the worker does."""
    if not hasattr(_threads, "judge"):
        _threads.judge = Judge()
    return _threads.judge
