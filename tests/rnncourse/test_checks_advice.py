"""Messages of the checks of lessons 10 to 18: numbers that help, and blame for what the answer did."""

import re

import numpy as np
import pytest
from values_in import holds

from nbjudge.comparing import differences
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from pocketgpu import cuda
from pocketgpu.simulator.strict import check
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import ATOMIC, BETWEEN_BLOCKS


def verdict_on(name, source, seed=1):
    """The verdict on an answer that is given as a program."""
    lesson, exercise = checks.find(name)
    answer = answers(lesson)[name]
    function = answer.define(source, f"<{name}>")
    return judge(exercise, InProcess(function, name), seed)


def edited(name, old, new):
    """The verdict on the course's answer with an edit."""
    lesson, _ = checks.find(name)
    source = answers(lesson)[name].source
    assert old in source
    return verdict_on(name, source.replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "array"),
    [
        ("lstm_pointwise_kernel", "h_next[row, unit] =", "h_next[row, unit] +=", "h_next"),
        ("lstm_pointwise_kernel", "h_next[row, unit] =", "unused =", "h_next"),
        ("lstm_pointwise_kernel", "gates[row, unit] =", "unused =", "gates"),  # [B,4·H], shown as [B,4,H]
        ("lstm_pointwise_backward_kernel", "dc[row, unit] =", "dc[row, unit] +=", "dc"),
    ],
)
def test_the_nan_of_the_check_is_not_called_the_learners(name, old, new, array):
    verdict = edited(name, old, new)
    assert verdict.misconception != differences.NOT_FINITE
    assert re.search(rf"\b{array}\b.* sequence \d+,( gate \d+,)? unit \d+ ", verdict.message)


@pytest.mark.parametrize("name", ["block_sum_kernel", "warp_sum_kernel"])
def test_a_race_for_a_result_gets_no_advice_that_the_exercise_refuses(name):
    index = {"block_sum_kernel": "out[cuda.blockIdx.x]", "warp_sum_kernel": "out[cuda.grid(1) // 32]"}[name]
    verdict = edited(name, index, "out[0]")
    assert "line" in verdict.message
    assert "atomic" not in f"{verdict.message} {verdict.next_step}"


def test_advice_of_an_atomic_is_cut_out_of_every_remedy_of_the_simulator():
    remedies = {
        "one of them do so, or use an atomic": "one of them do so",
        "one do so, or use an atomic; if a round": "one do so; if a round",
        "between them, or use an atomic if both change it": "between them",
        "do both, or use an atomic, a flag with": "do both, or use a flag with",
        "or use an atomic for both": "or use an atomic for both",
    }
    assert {text: ATOMIC.sub("", text) for text in remedies} == remedies
    assert BETWEEN_BLOCKS.sub("", "a; blocks run in any order: x, y; and b") == "a; and b"


def test_an_operation_that_must_stay_comes_with_its_chain_of_waits():
    verdict = edited("leaves_loop", "before[j] |= {i} | before[i]", "before[j] |= {i}")
    numbers = list(map(int, re.findall(r"place (\d+)", verdict.message)))
    assert numbers == [7, 6, 3]  # tanh of step 1, the recurrent product that it reads, tanh of step 0


def test_a_pair_that_is_missing_is_shown_with_the_rows_of_both_operations():
    verdict = edited("must_wait", "is_late or meet(old_reads, writes + adds)", "is_late")
    assert re.findall(r"\w+\[\d:\d\]", verdict.message) == ["h[0:2]", "h[1:3]"]


def test_a_wrong_time_of_a_product_comes_with_its_factors():
    verdict = verdict_on("product_time", "def product_time(*sizes):\n    return 1.0\n")
    assert holds(verdict.next_step, "0.5658", "8", "132", "16.5", "2.5")


def test_segments_that_recompute_too_much_get_numbers_and_no_whole_answer():
    source = """
def segment_lengths(layers, memory):
    lengths = []
    while sum(lengths) < layers:
        lengths.append(min(layers - sum(lengths), (memory - 1 - len(lengths)) // 2))
    return lengths
"""
    verdict = verdict_on("segment_lengths", source)
    assert not re.search(r"\[\d+, \d+", verdict.message)
    numbers = list(map(int, re.findall(r"\d+", verdict.message)))
    assert numbers[:5] == [3, 4, 3, 1, 4]  # top 3; 4 again, 3 possible; 1 input beside it, room for 4


def test_the_gates_of_the_first_wrong_unit_are_named_and_make_the_right_number():
    verdict = edited("fused_gates", "r * u[2 * H + j]", "r * u[2 * H + j] * h[j]")
    want = float(re.search(r"instead of (-?[\d.]+\d)", verdict.message)[1])
    r, z, n, h = (float(re.search(rf"{name} is (-?[\d.]+\d)", verdict.next_step)[1]) for name in "rznh")
    assert (1 - z) * n + z * h == pytest.approx(want, rel=1e-4)
    assert 0 < r < 1


def test_the_parts_of_a_step_are_named_and_add_up():
    verdict = verdict_on("choose_minibatch", "def choose_minibatch(*sizes):\n    return 7, True, 1.0\n")
    want = float(re.search(r"instead of (\d+\.\d+)", verdict.message)[1])
    work = float(re.search(r"the operations ([\d.]+)", verdict.message)[1])
    barrier = float(re.search(r"'barrier': ([\d.]+)", verdict.message)[1])
    assert work + barrier == pytest.approx(want, rel=1e-3)


def test_a_gradient_with_one_axis_has_no_axis_without_a_name():
    source = """
def average_gradients(all_reduce, gradients, sequences):
    return [all_reduce(np.nan_to_num(g)) * 0 + (g.ndim > 1) * 0 for g in gradients]
"""
    verdict = verdict_on("average_gradients", source)
    assert not verdict.passed
    assert "axis 0" not in verdict.message


def test_a_size_that_does_not_compile_is_named_without_an_address():
    @cuda.jit
    def sized(x):
        part = cuda.shared.array(cuda.blockDim.x, np.float32)
        part[0] = x[0]
        x[0] = part[0]

    (finding,) = check(sized, np.zeros(4, "float32"))
    assert "0x" not in finding.message
    assert "shared.array" in finding.message


def test_an_array_stands_for_a_tuple_of_numbers_of_its_length_only():
    difference = lambda got, want: differences.first_difference(got, want, (), ("a", "b"), 1e-9)
    assert difference(np.array([1.0, 2.0]), (1.0, 2.0)) is None
    assert difference(np.array([1, 2]), (1, 2)) is None
    assert difference(np.array([1.0, 2.0]), (1, 2.0)).misconception == differences.WRONG_TYPE
    assert difference(np.array([1.0, 2.0, 3.0]), (1.0, 2.0)).misconception == differences.WRONG_TYPE
    assert difference(np.ones((2, 2)), (np.ones(2), np.ones(2))).misconception == differences.WRONG_TYPE


@pytest.mark.parametrize(
    ("what", "expected"), [("the rate in GFLOP/s", "is"), ("the states", "are"), ("the loss", "is")]
)
def test_a_rate_takes_a_singular_verb(what, expected):
    assert differences.verb(what, "is") == expected


def test_advice_says_nothing_false_about_what_other_results_show_to_be_right():
    relu = edited("relu_step_backward", "da.sum(axis=0)", "da.mean(axis=0)")
    assert not re.search(r"is wrong", relu.next_step)
    lstm = edited("lstm_backward", "dc_total * f, da.T", "dc_total, da.T")
    assert not re.search(r"\d", lstm.next_step)  # no number that "arrives", where the right one does


def test_a_result_that_is_too_narrow_gets_no_advice_against_float64():
    narrow = differences.first_difference(np.ones(2, "f4"), np.ones(2), (), "y", None)
    wide = differences.first_difference(np.ones(2), np.ones(2, "f4"), (), "y", None)
    assert narrow.next_step is None
    assert "float64" in wide.next_step


def test_a_run_too_few_is_counted():
    source = """
def measure_gemm(multiply, clock, m, n, k, repeats):
    durations = []
    for _ in range(repeats):
        start = clock()
        multiply()
        durations.append(clock() - start)
    return 2 * m * n * k / float(np.median(durations[1:]))
"""
    assert holds(verdict_on("measure_gemm", source).next_step, "3", "1")


def test_steps_that_are_left_over_are_counted():
    source = """
def batch_input_gemm(x, multiply, steps):
    products = np.zeros((*x.shape[:2], multiply.outputs), x.dtype)
    for t in range(0, len(x) - steps + 1, steps):
        rows = multiply(x[t : t + steps].reshape(-1, x.shape[2]))
        products[t : t + steps] = rows.reshape(steps, x.shape[1], -1)
    return products
"""
    assert holds(verdict_on("batch_input_gemm", source).next_step, "5", "2", "1")


def test_the_first_wrong_index_names_its_row_and_sequence():
    verdict = edited("index_of_sums", "8 * (reg / 2)", "8 * reg / 2")
    assert holds(verdict.next_step, "1", "0")  # register 1 of lane 0: row 0, sequence 1


IN_PLACE = {
    "rnn_forward": """def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    h = h0.copy()
    states = [h]
    for row in x:
        h[:] = np.tanh(weight_ih @ row + bias_ih + weight_hh @ h + bias_hh)
        states.append(h)
    return np.array(states)
""",
    "gru_reset_after": """def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    inputs = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, -1)
    h, states, products = h0.copy(), [], []
    for of_x in inputs:
        (a, b, c), (d, e, f) = (np.split(p, 3, axis=1) for p in (of_x, product(h, weight_hh) + bias_hh))
        r, z = 1 / (1 + np.exp(-a - d)), 1 / (1 + np.exp(-b - e))
        h[:] = (1 - z) * np.tanh(c + r * f) + z * h
        states.append(h)
        products.append(f)
    return np.stack(states), np.stack(products)
""",
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_state_that_changes_in_place_gets_a_copy_for_advice_and_no_sums_or_gates(name):
    verdict = verdict_on(name, IN_PLACE[name])
    assert "h.copy()" in verdict.next_step
    assert not re.findall(r"\d\.\d", verdict.next_step)


@pytest.mark.parametrize("index", ["h[j - 1]", "h_next[j - 1]"])
def test_a_state_of_the_unit_before_gets_no_advice_on_the_layout_of_the_gates(index):
    verdict = edited("fused_gates", "z * h[j]", f"z * {index}")
    assert "g[1]" not in verdict.next_step
    assert "[-1]" in verdict.next_step


def test_entries_that_move_together_are_told_from_a_wrong_norm():
    verdict = edited("gradient_check", "point[index] += eps", "point += eps")
    assert "copy()" not in verdict.next_step  # above at all entries, below at one
    together = verdict_on(
        "gradient_check",
        """def gradient_check(loss, array, gradient, eps):
    slope = (loss(array + eps) - loss(array - eps)) / (2 * eps)
    numeric = np.full(array.shape, slope)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))
""",
    )
    assert "copy()" in together.next_step
    assert holds(together.next_step, "6")


def test_a_gradient_of_zeros_does_not_make_the_check_divide_by_zero():
    program = """def average_gradients(all_reduce, gradients, sequences):
    total = all_reduce(np.array([float(sequences)]))[0]
    sums = [all_reduce(np.nan_to_num(gradient) * sequences) for gradient in gradients]
    return [(part * min(sequences, 1) / total).astype("float32") for part in sums]
"""
    assert verdict_on("average_gradients", program).status == "failed"
