"""What an answer returned stays as it was: no answer may return the same array or list in every call."""

import numpy as np
import pytest

from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import run_check
from nbjudge.running.conversation import SAME_ARRAYS
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from nbjudge.running.worker import Worker
from rnncourse.course import COURSE

NOTHING_TO_CHANGE = {  # results are numbers and texts, or are written into what the judge hands out
    *("count_rnn_flops", "measure_gemm", "count_gemms", "arithmetic_intensity", "fused_gates", "fast_tanh"),
    *("amdahl_limit", "choose_tile", "emit_tile", "tiled_product", "product_time", "choose_input_batch"),
    *("choose_minibatch", "index_of_sums", "register_budget", "median_interval", "my_schedule"),
}
EXERCISES = [
    exercise.name
    for lesson in COURSE.lessons
    for exercise in COURSE.exercises(lesson)
    if not exercise.is_kernel and exercise.name not in NOTHING_TO_CHANGE
]

SAME_ARRAY = """
import numpy as np
buffer = np.zeros(2)
def last_step(y):
    buffer[:] = y[-1]
    return buffer
"""


def into_buffers(value, buffers, place=()):
    """The value in arrays and lists that were made for their places in an earlier one."""
    if isinstance(value, np.ndarray):
        buffer = buffers.setdefault((place, value.shape, value.dtype), np.empty_like(value))
        buffer[...] = value
        return buffer
    if isinstance(value, dict):
        return {key: into_buffers(part, buffers, (*place, key)) for key, part in value.items()}
    if isinstance(value, tuple | list):
        parts = [into_buffers(part, buffers, (*place, n)) for n, part in enumerate(value)]
        if isinstance(value, tuple):
            return tuple(parts)
        buffers.setdefault(place, [])[:] = parts
        return buffers[place]
    return value


@pytest.mark.parametrize("name", EXERCISES)
def test_results_in_the_same_arrays_or_lists_fail_by_that_name(name):
    _, exercise = COURSE.find(name)
    buffers = {}

    def answer(*arguments):
        return into_buffers(exercise.reference(*arguments), buffers)

    assert run_check(exercise, InProcess(answer, name), 1).misconception == SAME_ARRAYS


def test_a_process_of_its_own_sees_it_too():
    with Worker(of_source("last_step", SAME_ARRAY), 20.0, choose(plain=True)) as worker:
        worker(np.ones((3, 2)))
        with pytest.raises(Wrong) as wrong:
            worker(np.zeros((3, 2)))
    assert wrong.value.misconception == SAME_ARRAYS
