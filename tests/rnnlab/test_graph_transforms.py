"""Transformations change how many products there are and nothing else, but for one, on purpose."""

import numpy as np
import pytest
from properties import given, settings, st

from rnnlab.compare import relative_error
from rnnlab.graphs.cells import EQUATIONS, sequence_graph
from rnnlab.graphs.graph import run
from rnnlab.graphs.mirror import gradients, mirror
from rnnlab.graphs.transform import accumulate, reset_after, stack_gates, stack_time, stack_weight_gradients

B, I, H = 2, 3, 4
EQUAL = (stack_gates, stack_time, accumulate)


def values_of(graph, seed=0):
    rng = np.random.default_rng(seed)
    return {wire: rng.normal(size=shape) for wire, shape in graph.inputs.items()}


def gemms(cell, T, *transformations):
    graph = sequence_graph(cell, T, B, I, H)
    for transformation in transformations:
        graph = transformation(graph)
    return graph.gemms()


@pytest.mark.parametrize("T", [2, 7])
def test_gemm_calls_per_forward_pass_are_the_published_ones(T):
    both = (stack_gates, stack_time)
    assert gemms("gru_before", T) == 6 * T  # V1
    assert gemms("gru_before", T, *both) == 1 + 2 * T  # V2
    assert gemms("gru_before", T, reset_after, *both) == 1 + T  # V3, V4
    assert gemms("lstm", T) == 8 * T
    assert gemms("lstm", T, *both) == 1 + T
    assert gemms("rnn_tanh", T, *both) == 1 + T


@settings(max_examples=40)
@given(
    cell=st.sampled_from(sorted(EQUATIONS)),
    T=st.integers(1, 4),
    order=st.permutations(EQUAL),
    many=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_any_order_of_transformations_gives_the_same_numbers_both_ways(cell, T, order, many, seed):
    graph = changed = sequence_graph(cell, T, B, I, H)
    for transformation in order[:many]:
        changed = transformation(changed)
    values = values_of(graph, seed)
    d = {wire: values_of(graph, seed + 1).get(wire, np.ones(graph.shapes[wire])) for wire in graph.outputs}
    before, after = run(graph, values), run(changed, values)
    assert all(relative_error(after[wire], before[wire]) < 1e-13 for wire in graph.outputs)
    before, after = gradients(graph, values, d), gradients(changed, values, d)
    assert all(relative_error(after[wire], before[wire]) < 1e-12 for wire in graph.inputs)


@pytest.mark.parametrize("cell", EQUATIONS)
def test_stacked_weight_gradients_are_the_same_and_leave_one_product_in_the_loop(cell):
    T = 5
    graph = accumulate(stack_time(stack_gates(sequence_graph(cell, T, B, I, H))))
    reverse = mirror(graph)
    stacked = stack_weight_gradients(reverse.graph)
    values = values_of(reverse.graph)
    before, after = run(reverse.graph, values), run(stacked, values)
    assert all(relative_error(after[wire], before[wire]) < 1e-12 for wire in reverse.graph.outputs)
    in_the_loop, after_it = {"gru_before": (2 * T, 4), "min_gru": (0, 2)}.get(cell, (T, 3))
    assert stacked.gemms() == in_the_loop + after_it


def test_moving_the_reset_gate_is_another_function_unless_u_is_diagonal_or_r_uniform():
    graph = sequence_graph("gru_before", 3, B, I, H)
    moved, values = reset_after(graph), values_of(graph)
    far = lambda values: relative_error(run(moved, values)["h3"], run(graph, values)["h3"])
    assert far(values) > 1e-3
    assert far(values | {"U_n": np.diag(values["U_n"][0])}) < 1e-14
    same_in_all_units = {
        "W_r": np.ones((H, 1)) * values["W_r"][:1],
        "U_r": np.ones((H, 1)) * values["U_r"][:1],
    }
    assert far(values | same_in_all_units | {"b_r": np.full(H, 0.3)}) < 1e-14


def test_products_that_wait_for_each_other_are_not_stacked():
    assert gemms("rnn_tanh", 4, stack_time) == 4 + 1  # the recurrent ones stay


def test_accumulating_saves_a_node_for_every_sum_it_takes_in():
    graph = sequence_graph("rnn_tanh", 3, B, I, H)
    taken_in = accumulate(graph)
    assert taken_in.count("product_add") == 3
    assert taken_in.count() == graph.count() - 3
