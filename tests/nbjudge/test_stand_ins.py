"""Event loops, cached code and progress bars work in an answer's process without sockets and cells."""

import numpy as np
import pytest

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.running.sandbox import choose
from nbjudge.running.worker import Worker

TASKS = """
import asyncio
async def place(k, seconds):
    await asyncio.sleep(seconds)
    return k
task = asyncio.create_task(place(-1, 0.002))
places = await asyncio.gather(place(1, 0.001), asyncio.to_thread(lambda: 2))
at = await task
def last_step(y):
    return y[at * (sum(places) == 3)]
"""
THREAD = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
def last_step(y):
    async def wait():
        await asyncio.sleep(0.001)
        return y[-1]
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()
"""
STARTED = """
import asyncio, threading
places = []
async def fill():
    await asyncio.sleep(0)
    places.append(-1)
thread = threading.Thread(target=lambda: asyncio.run(fill()))
thread.start()
thread.join()
try:
    asyncio.run(fill())
except RuntimeError:  # a notebook's cells run inside of a loop
    places.append(0)
def last_step(y):
    return y[places[0]] if places == [-1, 0] else None
"""
CACHED = """
from functools import partial
import numba
fast = partial(numba.njit, cache=True)
@fast
def last(y):
    return y[-1]
def remember(*, cache):
    return lambda function: cache.setdefault("it", function)
@remember(cache={})
def last_step(y):
    return last(y)
"""
BARS = """
import sys
sys.modules["ipywidgets"] = None
from tqdm.notebook import tqdm, trange
from tqdm import auto
def last_step(y):
    for k in trange(len(y)):
        pass
    for step in auto.tqdm(tqdm(y)):
        pass
    return y[k] * (step == y[k]).all()
"""


@pytest.mark.parametrize(
    "source",
    [TASKS, THREAD, STARTED, CACHED, BARS],
    ids=["tasks", "thread", "started thread", "cached", "bars"],
)
def test_an_answer_gets_what_a_notebook_has(source):
    if source is CACHED:
        pytest.importorskip("numba")
    answer = Notebook([parse(1, source)]).answer("last_step")
    y = np.arange(6.0).reshape(3, 2)
    with Worker(answer, 20.0, choose(plain=True)) as worker:
        assert worker.left_out == []
        np.testing.assert_array_equal(worker(y), y[-1])
