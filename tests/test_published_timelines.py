"""The model's distance from what others measured, figure by figure."""

from rnnlab.views import published_timelines


def test_sixteen_of_eighteen_published_figures_are_predicted_within_a_quarter():
    told = published_timelines.lines()
    assert len(told) == 18
    off = [each for each in told if not each.is_close]
    assert [each.what for each in off] == [
        "backward, 4 × lstm: fuse_pointwise, group_gates",
        "backward, 4 × lstm: fuse_pointwise, weight_gradient_after_loop",
    ]
    assert all(each.predicted / each.published < 1.5 for each in off)
    assert "16 of 18 within 25%" in published_timelines.table(told)
