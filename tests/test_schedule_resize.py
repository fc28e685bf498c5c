"""A resized plan is the plan of that size, whatever passes it has been through."""

from itertools import product

import pytest

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.order import assign_streams, wavefront
from rnnlab.schedule.passes import (
    batch_two_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.resize import resized
from rnnlab.schedule.stages import apply

PASSES = (
    (group_gates,),
    (fuse_pointwise,),
    (transpose_once, batch_two_inputs),
    (weight_gradient_after_loop,),
    (wavefront, assign_streams),
)


@pytest.mark.parametrize("on", list(product((False, True), repeat=len(PASSES))), ids=str)
@pytest.mark.parametrize("build", [forward_plan, backward_plan])
@pytest.mark.parametrize("cell", ["rnn_tanh", "gru_before", "gru_after", "lstm"])
def test_a_resized_plan_is_the_plan_of_that_size(cell, build, on):
    passes = [each for some, chosen in zip(PASSES, on, strict=True) if chosen for each in some]
    made = lambda B, H: apply(build(cell, Sizes(3, B, H, H, 2)), passes)
    small = made(3, 2)
    for B, H in ((1, 1), (2, 2), (5, 1), (64, 7)):
        assert resized(small, B, H) == made(B, H)


def test_a_plan_whose_inputs_are_not_as_wide_as_its_layers_is_refused():
    with pytest.raises(ValueError, match="I=3 and H=4: only one with I = H can be resized"):
        resized(forward_plan("lstm", Sizes(1, 2, 3, 4, 1)), 5, 6)
