"""A known mistake is named only if it alone repeats everything that was observed of an answer."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from nbjudge.clock import Overtime
from nbjudge.comparing.judging import Transcript, Unlike, begin_case, expect, recording, refuse
from nbjudge.exercise import Exercise, Mutant
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.verdict import Status, Stopped

NAN, INF = np.nan, np.inf


def transcript_of(*results, want=(1.0, 2.0), **options):
    """What `expect` notes of these results, one case each."""
    transcript = Transcript()
    with recording(transcript):
        for result in results:
            expect(np.array(result), np.array(want), axes=("unit",), **options)
    return transcript


@pytest.mark.parametrize(
    "result",
    [(3.0, 4.0), (NAN, 2.0), (INF, -INF), (-0.0, 2.0), (3.0, NAN)],
    ids=["numbers", "nan", "inf", "−0", "mixed"],
)
def test_a_wrong_result_repeats_itself(result):
    assert transcript_of(result).first
    assert transcript_of(result).repeats(transcript_of(result))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ((3.0, 4.0), (3.0, 5.0)),
        ((NAN, 2.0), (2.0, NAN)),
        ((NAN, 2.0), (INF, 2.0)),
        ((INF, 2.0), (-INF, 2.0)),
        ((NAN, 3.0), (NAN, 4.0)),
        ((NAN, 2.0), (0.0, 2.0)),
        ((INF, 2.0), (0.0, 2.0)),
    ],
)
def test_another_wrong_result_is_no_repetition(mine, theirs):
    assert not transcript_of(mine).repeats(transcript_of(theirs))
    assert not transcript_of(theirs).repeats(transcript_of(mine))


def test_zero_and_negative_zero_are_one_number():
    assert transcript_of((0.0, 3.0)).repeats(transcript_of((-0.0, 3.0)))


def test_rounding_is_no_difference_between_mistakes_within_the_tolerance():
    near = transcript_of((3.0 * (1 + 1e-12), 4.0))
    assert near.repeats(transcript_of((3.0, 4.0)))
    assert not transcript_of((3.001, 4.0)).repeats(transcript_of((3.0, 4.0)))
    assert transcript_of((3.001, 4.0), tolerance=0.01).repeats(transcript_of((3.0, 4.0), tolerance=0.01))


def test_right_cases_must_be_the_same_too():
    right, wrong = (1.0, 2.0), (3.0, 4.0)
    assert transcript_of(right, wrong).repeats(transcript_of(right, wrong))
    assert not transcript_of(right, wrong).repeats(transcript_of(wrong, wrong))
    assert not transcript_of(right, wrong).repeats(transcript_of(wrong, right))
    assert not transcript_of(wrong).repeats(transcript_of(wrong, right))


def refused(*sentences, **options):
    """What `refuse` notes of these sentences, one case each."""
    transcript = Transcript()
    with recording(transcript):
        for sentence in sentences:
            refuse(sentence, **options)
    return transcript


def test_a_broken_limit_is_repeated_by_the_same_sentence_or_the_same_result():
    assert refused("too many loads").repeats(refused("too many loads"))
    assert not refused("too many loads").repeats(refused("too many stores"))
    assert refused("8 loads", result="loads").repeats(refused("9 loads", result="loads"))
    assert not refused("8 loads", result=8).repeats(refused("8 loads", result=9))
    assert refused(None).first is None


def test_details_tell_apart_what_results_do_not():
    mine, theirs = refused("too slow", detail=3), refused("too slow", detail=4)
    assert mine.repeats(theirs)
    assert not mine.repeats_details(theirs)
    assert mine.repeats_details(refused("too slow", detail=3))


def test_only_the_headline_of_an_exception_must_be_the_same():
    crashes = ["ValueError: odd\n  line 3", "ValueError: odd\n  line 7", "KeyError: odd\n  line 3", None]
    transcripts = [Transcript() for _ in crashes]
    for transcript, text in zip(transcripts, crashes, strict=True):
        transcript.crash = text and Stopped(Status.crashed, text)
    first, *others = transcripts
    assert [first.repeats(other) for other in others] == [True, False, False]


@pytest.mark.parametrize(
    ("answers", "compared"),
    [((3.0, 1.0), 2), ((3.0, 3.0), 2), ((1.0, 1.0), 1), ((3.0, 1.0, 1.0), 3)],
    ids=["the same", "at the second", "at the first", "one too many"],
)
def test_a_known_mistake_is_compared_up_to_its_first_difference(answers, compared):
    like = Transcript()
    mistake = Transcript(like)
    with recording(like):
        expect(3.0, 1.0)
        expect(1.0, 1.0)
    with recording(mistake), suppress(Unlike):
        for answer in answers:
            expect(answer, 1.0)
        assert answers == (3.0, 1.0)
    assert len(mistake.observations) == compared
    assert like.repeats(mistake) is (answers == (3.0, 1.0))


FUNCTIONS = {  # known mistakes of x -> 2 * x
    "squares": lambda x: x * x,
    "adds two": lambda x: x + 2,
    "adds its own two": lambda x: 2 + x,
    "indexes beyond the end": lambda x: x[len(x)],
    "returns half": lambda x: x / 2,
}


def exercise(*names, inputs=(2.0, 3.0), **options):
    """Doubling, with these known mistakes, tried on inputs at which some mistakes agree with the answer."""

    def check(submission, rng, x):
        expect(submission(np.array([x])), np.array([2 * x]), axes=("unit",), what="y")

    mutants = tuple(Mutant(name, "", "") for name in names)
    make = lambda mutant: FUNCTIONS[mutant.name] if mutant else lambda x: 2 * x
    properties = {
        "name": "doubled",
        "points": 1,
        "difficulty": 1,
        "minutes": 1,
        "lines": 1,
        "hints": ("", "", ""),
    }
    cases = tuple((x,) for x in inputs)
    return Exercise(**properties, check=check, cases=cases, make=make, mutants=mutants, right=(), **options)


def named(function, *names, **options):
    return judge(exercise(*names, **options), InProcess(function, "doubled"), 1).misconception


def test_the_one_mistake_that_explains_every_case_is_named():
    assert named(lambda x: x**2, "squares", "adds two", "returns half") == "squares"


def test_two_mistakes_that_explain_every_case_are_not_named():
    assert named(lambda x: x + 2.0, "adds two", "adds its own two") is None
    assert named(lambda x: x * x, "squares", "adds two", inputs=(2.0, -1.0)) is None


def test_a_mistake_that_explains_the_first_difference_only_is_not_named():
    assert named(lambda x: x * x + (x > 3), "squares", inputs=(2.0, 3.0, 4.0)) is None


def test_a_mistake_that_ends_in_an_exception_is_named_by_the_exception():
    def crashes(x):
        y = 2 * x
        return y[len(y)]

    verdict = judge(exercise("indexes beyond the end", "squares"), InProcess(crashes, "doubled"), 1)
    assert (verdict.status, verdict.misconception) == ("crashed", "indexes beyond the end")


def test_another_exception_is_no_known_mistake():
    assert named(lambda x: {}["y"], "indexes beyond the end", "squares") is None


def test_a_check_that_diagnoses_is_left_to_name_mistakes_itself():
    assert named(lambda x: x**2, "squares", diagnoses=True) is None


def test_a_right_answer_has_no_mistake():
    verdict = judge(exercise(*FUNCTIONS), InProcess(lambda x: x + x, "doubled"), 1)
    assert verdict.passed
    assert verdict.misconception is None


SQUARE = InProcess(lambda x: x * x, "doubled")


def rehearsed(stops=None):
    """(doubling with one known mistake, the inputs tried with it); `stops` ends its second case."""
    tried = []

    def mistaken(x):
        tried.append(float(x[0]))
        return x * x

    def check(submission, rng, x):
        got = submission(np.array([x]))
        if stops and submission is not SQUARE and x == 3:
            raise stops
        expect(got, np.array([2 * x]), axes=("unit",), what="y")

    answer = lambda x: 2 * x
    doubled = exercise("squares", inputs=(2.0, 3.0, 4.0))
    return replace(doubled, make=lambda mutant: mistaken if mutant else answer, check=check), tried


def test_a_known_mistake_is_tried_no_further_than_needed():
    doubled, tried = rehearsed()
    named = lambda function: judge(doubled, InProcess(function, "doubled"), 1).misconception
    assert named(lambda x: x + 7) is None
    assert tried == [2.0]  # where squares is right, and this answer is not
    assert named(lambda x: x * x) == "squares"
    assert tried == [2.0, 2.0, 3.0, 4.0]


def test_a_known_mistake_that_breaks_the_check_explains_nothing():
    doubled, tried = rehearsed(Stopped(Status.timeout, "too slow"))
    assert judge(doubled, SQUARE, 1).misconception is None
    assert tried == [2.0, 3.0]


def test_the_judge_running_out_of_time_ends_the_search_for_a_known_mistake():
    doubled, _ = rehearsed(Overtime())
    with pytest.raises(Overtime):
        judge(doubled, SQUARE, 1)


def test_no_answer_gets_cases_that_another_has_changed():
    drawn, seen = [], []

    def cases(rng):
        drawn.append(rng.integers(100))
        return [([1.0, 2.0],), ([3.0],)]

    def check(submission, rng, numbers):
        seen.append(list(numbers))
        refuse(None if submission(len(numbers)) == len(numbers) else "It is wrong.")
        numbers.clear()

    right, mistaken = abs, lambda n: 2 * n
    make = lambda mutant: mistaken if mutant else right
    counting = replace(exercise("the mistake"), check=check, cases=cases, make=make)
    for seed in (1, 1, 2):
        assert judge(counting, lambda n: n, seed).passed
        assert not judge(counting, lambda n: -n, seed).passed
    assert len({*drawn}) == 2
    assert [numbers for numbers in seen if numbers not in ([1.0, 2.0], [3.0])] == []


PLAIN = 0.5, NAN, INF, -INF, 7, True, [1.0, NAN], [1.0, 2.0], {"a": (2.0, 3)}, {"a": (2.0, 4)}


def observed(result):
    transcript = Transcript()
    with recording(transcript):
        refuse("It is wrong.", result=[result, 1.5])
    return transcript


@pytest.mark.parametrize("place", range(len(PLAIN)), ids=map(str, PLAIN))
def test_plain_numbers_repeat_themselves_and_nothing_else(place):
    repeated = [observed(PLAIN[place]).repeats(observed(other)) for other in PLAIN]
    assert repeated == [number == place for number in range(len(PLAIN))]


def test_a_crash_has_the_sizes_of_its_case():
    crashed = judge(exercise(inputs=(3.5,)), InProcess(lambda x: x[7], "doubled"), 1)
    assert crashed.status is Status.crashed
    assert crashed.message.endswith("(x=3.5)")


def test_a_crash_has_what_the_check_says_it_tries():
    def check(submission, rng, x):
        begin_case("node 'sum'")
        submission(x)

    plain = replace(exercise(inputs=(3.5,)), check=check)
    verdict = judge(plain, InProcess(lambda x: None * x, "doubled"), 1)
    assert verdict.message.endswith("(node 'sum')")
    assert "NoneType" in verdict.message
