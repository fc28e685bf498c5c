"""An answer is judged with what stood above its own check, whatever a notebook defines again further down."""

import pytest
import style_verdicts

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from rnncourse import checks

START = "import numpy as np\nfrom rnnlab import check, hint, progress, use"
TAKE = "def last_step(y):\n    return take(y, AT)"
HELPER = "AT = -1\ndef take(values, at):\n    return values[at]"
OTHER = "AT = 0\ndef take(values):\n    return values.sum()"
CHECK = "check(last_step)"
WRONG = "def last_step(y):\n    return y[0]"


def graded(*cells):
    """The verdict of a grade."""
    exercise = checks.find("last_step")[1]
    return style_verdicts.graded(exercise, [START, *cells])


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ((HELPER, TAKE, CHECK, OTHER), "passed"),
        ((HELPER, TAKE, CHECK, "AT = 0"), "passed"),
        ((HELPER, TAKE, CHECK, "def take(values, at):\n    return values[0]"), "passed"),
        ((HELPER, TAKE, "verdict = check(last_step)\nverdict", OTHER), "passed"),
        ((HELPER, TAKE, CHECK, "for AT in range(3):\n    print(AT)"), "passed"),
        (("T = [-1]\ndef last_step(y):\n    return y[T[0]]", CHECK, "T[0] = 0", "T.insert(0, 0)"), "passed"),
        ((HELPER, TAKE, "for f in (last_step,):\n    check(f)", OTHER), "passed"),
        ((HELPER, TAKE, CHECK, OTHER, "check(last_step, practice=True)"), "passed"),
        ((HELPER, TAKE, "from rnnlab import check as judge", "judge(last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "import rnnlab as course", "course.check(last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "test = check", "test(function=last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "def see(f):\n    return check(f)", "see(last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "all_passed = map(check, [last_step])\nlist(all_passed)", OTHER), "passed"),
        ((HELPER, TAKE, "def see_all():\n    return [check(last_step)]", "see_all()", OTHER), "passed"),
        ((HELPER, TAKE, "def see_all():\n    return [check(last_step)]", OTHER, "see_all()"), "crashed"),
        ((HELPER, TAKE, CHECK, OTHER, "from rnnlab import check", "print(check)"), "passed"),
        (
            (HELPER, TAKE, "def see(f):\n    return check(f, practice=True)", "see(last_step)", OTHER),
            "crashed",
        ),
        ((HELPER, TAKE, CHECK, OTHER, CHECK), "crashed"),  # the last check saw the second meaning
        ((OTHER, HELPER, TAKE, CHECK), "passed"),
        ((TAKE, CHECK, HELPER), "passed"),  # cells ran in another order
        ((WRONG, CHECK, HELPER, TAKE), "passed"),  # the answer itself stands below its check
        ((HELPER, TAKE, CHECK, WRONG), "failed"),
        ((HELPER, TAKE, "test: object = check", "test(last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "(test := check)", "test(last_step)", OTHER), "passed"),
        ((HELPER, TAKE, "check(last_step, practice=False)", OTHER), "passed"),
        (
            (HELPER, TAKE, "import functools\ntest = functools.partial(check)\ntest(last_step)", OTHER),
            "passed",
        ),
        ((HELPER, TAKE, "if check:\n    def see(f):\n        check(f)", "see(last_step)", OTHER), "passed"),
        (
            (HELPER, TAKE, "try:\n    from rnnlab import check as c\nfinally:\n    c(last_step)", OTHER),
            "passed",
        ),
        (
            (
                HELPER,
                TAKE,
                "class See:\n    def now(self, f):\n        check(f)",
                "See().now(last_step)",
                OTHER,
            ),
            "passed",
        ),
        ((HELPER, TAKE, CHECK, "if check:\n    show = print", OTHER, "show(last_step)"), "passed"),
        ((HELPER, TAKE, CHECK, "del last_step, take"), "passed"),  # clears up
        ((HELPER, "def last_step(y):\n    raise NotImplementedError", "del last_step"), "not_attempted"),
        ((TAKE, HELPER, OTHER), "crashed"),  # without a check the last counts
        ((HELPER, TAKE, "check(other)", OTHER), "crashed"),
    ],
)
def test_what_stands_below_the_check_gives_no_other_meaning(cells, status):
    assert graded(*cells).status == status


def test_a_verdict_names_what_has_two_meanings():
    cells = [parse(number, source) for number, source in enumerate([START, HELPER, TAKE, OTHER], 1)]
    assert Notebook(cells).answer("last_step").repeated == ["AT (cells 2 and 4)", "take (cells 2 and 4)"]
    cells = [*cells[:3], parse(4, CHECK), parse(5, OTHER)]
    assert Notebook(cells).answer("last_step").repeated == []
