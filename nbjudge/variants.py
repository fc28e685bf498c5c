"""Variants of exercises: the same task with other numbers in it, such as sizes, units and layouts.

An exercise's text lists its variants ([variant] in nbjudge/authoring/exercise_text.py). The course's own
exercise is one of them, without numbers. A student's notebook names the numbers where it calls `check`; the
grade of a class draws them anew from the class key and never reads them there.
"""

import hashlib
from dataclasses import replace
from functools import wraps

from nbjudge.answers import ModelAnswer, judging_variant
from nbjudge.course import current
from nbjudge.exercise import Exercise, Numbers, Wrong


def variants_of(name: str) -> tuple[ModelAnswer, ...]:
    """The answers to all variants of an exercise, the course's own first."""
    lesson, _ = current().find(name)
    answer = current().answers(lesson)[name]
    return answer, *answer.variants


def at_numbers(exercise: Exercise, numbers: Numbers) -> Exercise:
    """The exercise with these numbers. Raises ValueError, with the numbers there are, for any others."""
    variants = variants_of(exercise.name)
    answer = next((variant for variant in variants if variant.numbers == dict(numbers)), None)
    if answer is None:
        known = "; ".join(map(describe_numbers, (variant.numbers for variant in variants[1:]))) or "none"
        raise ValueError(
            f"{exercise.name} has no variant with {describe_numbers(numbers)}; its variants: {known}. "
            "Copy the line with check from the notebook that you were handed."
        )
    return _at(exercise, answer) if answer.numbers else exercise


def draw_numbers(name: str, token: str) -> dict | None:
    """The numbers that a token draws for an exercise; empty: the course's own; None: it has no variants."""
    variants = variants_of(name)
    digest = hashlib.sha256(f"{token} {name}".encode()).digest()
    chosen = variants[int.from_bytes(digest, "big") % len(variants)]
    return dict(chosen.numbers) if len(variants) > 1 else None


def draw_variant(exercise: Exercise, token: str) -> tuple[Exercise, dict | None]:
    """(the exercise with the numbers that a token draws, those numbers); None without variants."""
    numbers = draw_numbers(exercise.name, token)
    return at_numbers(exercise, numbers or {}), numbers


def _at(exercise: Exercise, answer: ModelAnswer) -> Exercise:
    """The exercise, whose check, cases and own answers have a variant's numbers."""

    def inside(function):
        @wraps(function)
        def within(*arguments):
            try:
                with judging_variant(answer):
                    return function(*arguments)
            except Wrong as wrong:  # of what the check hands to an answer: it knows no numbers
                wrong.message += f" ({describe_numbers(answer.numbers)})"
                raise

        return within

    drawn = exercise.cases
    return replace(
        exercise,
        hints=answer.hints,
        mutants=answer.mutants,
        right=answer.right,
        check=inside(exercise.check),
        make=inside(exercise.make),
        cases=inside(lambda rng: [*drawn(rng)]) if callable(drawn) else drawn,
    )


def describe_numbers(numbers: Numbers) -> str:
    """The numbers as `check` takes them: "tick=1000"."""
    return ", ".join(f"{name}={value!r}" for name, value in numbers.items()) or "no numbers"
