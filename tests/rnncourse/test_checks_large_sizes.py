"""No answer passes that is right for small sizes alone: every check has a late case with a long axis."""

import ast
import linecache

import numpy as np
import pytest

from nbjudge.answers import LATE
from nbjudge.course import current
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import run_check
from rnncourse.checks.answers import answers
from rnncourse.course import COURSE

assert COURSE is current()
SMALL = 20  # elements of an axis, or of a list
NUMBERS_ALONE = {  # what they take has no axis of any length: plain numbers, or a cell's few products
    *("count_rnn_flops", "measure_gemm", "arithmetic_intensity", "split_minibatch", "amdahl_limit"),
    *("product_time", "choose_input_batch", "tile_for_thread", "choose_minibatch", "register_budget"),
    *("index_of_sums", "count_gemms", "gradient_ready_times", "survive", "segment_lengths", "my_schedule"),
    *("wavefront_order", "choose_tile", "emit_tile", "tiled_product", "fast_tanh"),
    "pack_fragment",  # a fragment has 16 rows
    "fused_gates",  # its vectors are watched objects: see the test below
    "newton_states",  # the states stand behind the function that it is given: see the test below
}
BEHIND_FUNCTIONS = {  # their sizes stand in what they are given: 90 updates, watched vectors, registers
    *("survive", "fast_tanh", "fused_gates", "pack_fragment", "my_schedule", "emit_tile"),
}
OTHERS = [
    exercise.name
    for lesson in COURSE.lessons
    for exercise in COURSE.exercises(lesson)
    if not exercise.is_kernel and exercise.name not in NUMBERS_ALONE
]


def longest(part):
    if isinstance(part, np.ndarray):
        return max(part.shape, default=0)
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()
    return max([len(parts), *map(longest, parts)], default=0)


def small_sizes_alone(function, sizes):
    def answer(*arguments):
        sizes.append(max(map(longest, arguments)))
        return function(*arguments) if sizes[-1] <= SMALL else None

    return answer


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_answer_for_small_sizes_alone_fails(name, seed):
    _, exercise = COURSE.find(name)
    sizes = []
    answer = InProcess(small_sizes_alone(exercise.reference, sizes), name, is_own=True)
    problem = run_check(exercise, answer, seed)
    assert problem is not None
    assert max(sizes) > SMALL


@pytest.mark.parametrize("name", sorted(NUMBERS_ALONE - BEHIND_FUNCTIONS))
def test_numbers_are_large_once(name):
    _, exercise = COURSE.find(name)
    numbers = []

    def answer(*arguments):
        numbers.append(max(part for part in arguments if isinstance(part, int | float)))
        return exercise.reference(*arguments)

    assert run_check(exercise, InProcess(answer, name, is_own=True), 1) is None
    assert max(numbers) > SMALL


def test_a_measurement_is_repeated_often_once():
    _, exercise = COURSE.find("measure_gemm")
    *_, (*_, repeats) = exercise.cases(np.random.default_rng(1))
    assert repeats % 2 == 1
    assert LATE[0] <= repeats <= LATE[1] + 1


KERNELS = [
    exercise.name
    for lesson in COURSE.lessons
    for exercise in COURSE.exercises(lesson)
    if exercise.is_kernel and exercise.name != "step_kernels"  # a function that launches several
]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_for_small_arrays_alone_fails(name):
    lesson, exercise = COURSE.find(name)
    tree = ast.parse(answers(lesson)[name].source)
    (kernel,) = (part for part in tree.body if getattr(part, "name", "") == name)
    arrays = [part.arg for part in kernel.args.args if part.arg not in ("steps", "a")]
    large = " or ".join(f"{array}.shape[0] > {SMALL}" for array in arrays)
    kernel.body[1:1] = ast.parse(f"if {large}:\n    return").body
    source = f"import math\nimport numpy as np\nfrom rnnlab import cuda\n{ast.unparse(tree)}"
    label = f"<{name}>"
    linecache.cache[label] = (len(source), None, source.splitlines(True), label)
    namespace = {"__name__": "kernel"}
    exec(compile(source, label, "exec"), namespace)
    assert run_check(exercise, InProcess(namespace[name], name), 1) is not None


def test_all_exercises_are_known_to_this_test():
    names = {exercise.name for lesson in COURSE.lessons for exercise in COURSE.exercises(lesson)}
    assert names >= NUMBERS_ALONE


@pytest.mark.parametrize("name", ["fused_gates", "newton_states"])
def test_a_watched_axis_is_long_once(name):
    _, exercise = COURSE.find(name)
    for seed in range(5):
        *_, late = exercise.cases(np.random.default_rng(seed))
        assert LATE[0] <= late[0] <= LATE[1]
