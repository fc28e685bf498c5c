"""Questions of a lesson that a reader answers on its page: predictions before an outcome, and recall.

The sources' own marks are enough.  A code cell that sets `my_guess` asks for a prediction; its output is
the outcome.  Prose that hides an answer in `details` asks a question, and so does "Look for ...?".
assets/quiz.js shows the fields, keeps in the reader's browser what is written, and sets it beside the
outcome; without it a page shows all as text.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from html import escape
from itertools import count
from pathlib import Path

import jinja2
from bs4 import BeautifulSoup, Tag

from rnncourse.guesses import NOTHING

SCRIPT = "assets/quiz.js"
GUESS = re.compile(r"my_((guess|factor|prediction)\w*)$")
MENTION = re.compile(r"guess|you predicted")  # a printed line from here on repeats the reader's guess
TEMPLATE = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("template")), trim_blocks=True, autoescape=True
).get_template("quiz.html.j2")


def guesses(source: str) -> dict[str, list[str]]:
    """{what a cell lets the reader guess: ways in which its output may print the guess written there}."""
    fields: dict[str, list[str]] = {}
    source = re.sub(r"^[%!].*$", "", source, flags=re.M)
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        value = statement.value
        together = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = zip(target.elts, value.elts, strict=True) if together else [(target, value)]
        for name, guess in pairs:
            if match := GUESS.match(ast.unparse(name)):
                fields |= fields_of(match[1].removeprefix("guess_").replace("_", " "), guess, source)
    return fields


def fields_of(name: str, guess: ast.expr, source: str) -> dict[str, list[str]]:
    """One field for a number or words, one for each key of a dictionary, named as the cell writes it."""
    if isinstance(guess, ast.Dict):
        keys = (ast.get_source_segment(source, key).strip("'\"") for key in guess.keys)
        return {key: printed(value) for key, value in zip(keys, guess.values, strict=True)}
    return {name: printed(guess)}


def printed(guess: ast.expr) -> list[str]:
    """A guess as lessons print one: as it is, as per cent, rounded."""
    try:
        value = eval(compile(ast.Expression(guess), "guess", "eval"), {"__builtins__": {}})
    except NameError:
        return []  # made from what only the lesson knows
    if value is ...:
        return [str(NOTHING)]
    if isinstance(value, tuple):
        value = tuple(NOTHING if part is ... else part for part in value)
    if value == [...]:
        return [str(NOTHING), f"[{NOTHING}]"]
    if isinstance(value, int | float):
        return [f"{value}", f"{value:.0%}", f"{value:.0e}", f"{value:.1f}", f"{value:,}"]
    return [", ".join(value) if isinstance(value, list) and isinstance(value[0], str) else f"{value}"]


def guess_attribute(source: str) -> str:
    """The attribute of a cell's element that says what is guessed there; "" where nothing is."""
    fields = guesses(source)
    if not fields:
        return ""
    return f' data-key="{key_of(source)}" data-guess="{escape(json.dumps(fields, ensure_ascii=False))}"'


def add_quizzes(html: str) -> str:
    """A lesson's page with its forms, which are hidden until a script shows them."""
    soup = BeautifulSoup(html, "html.parser")
    numbers = count()
    for cell in soup.select(".cell[data-guess]"):
        fields = json.loads(cell.attrs.pop("data-guess"))
        names = [*fields] if len(fields) > 1 else ["Your prediction"]
        if outcome := cell.select_one(".output"):
            outcome.insert_before(form(next(numbers), cell["data-key"], "guess", fields=names))
            mark_guesses(outcome, [*fields.values()], soup)
    for answer in soup.select(".prose details"):
        is_question = answer.summary.text.strip()[-1] in "?."  # else "Answer" or the like, behind a question
        question = answer.summary if is_question else answer.find_previous("p")
        own = form(next(numbers), key_of(question.text + answer.text), "answer")
        (answer.insert_after if is_question else answer.insert_before)(own)
    for question in open_questions(soup):
        question.insert_after(form(next(numbers), key_of(question.text), "note"))
    return str(soup)


def open_questions(soup: BeautifulSoup) -> list[Tag]:
    """The paragraphs "Look for ...?" without a folded answer in their section: nothing to compare with."""
    asks = re.compile(r"Look for.*\?(?!.*\)$)", re.S)  # an answer in brackets stands at once behind it
    asking = [p for p in soup.select(".prose p") if asks.match(p.text.strip())]
    after = [p.find_next(["details", "h2", "h3"]) for p in asking]
    return [
        p for p, element in zip(asking, after, strict=True) if element is None or element.name != "details"
    ]


def form(number: int, key: str, kind: str, **more: object) -> Tag:
    """The fields of one question."""
    html = TEMPLATE.render(id=f"question-{number}", key=key, kind=kind, **more)
    return BeautifulSoup(html, "html.parser").form


def mark_guesses(outcome: Tag, fields: list[list[str]], soup: BeautifulSoup) -> None:
    """Put an element around each place where printed lines repeat a guess, in one of the ways of `fields`."""
    for block in outcome.select("pre.printed"):
        turn = 0
        for text in [*block.strings]:
            parts, turn = marked(text, fields, turn, soup)
            text.replace_with(*filter(None, parts))


def marked(text: str, fields: list[list[str]], turn: int, soup: BeautifulSoup) -> tuple[list, int]:
    """(text and elements in place of printed lines, the field whose guess comes next)."""
    parts = []
    for line in text.splitlines(keepends=True):
        end = 0
        for number, begin, stop in repeated(line, fields, turn):
            mark = soup.new_tag("span", attrs={"class": "guessed", "data-field": str(number)})
            mark.string = line[begin:stop]
            parts += [line[end:begin], mark]
            end = stop
            turn = (number + 1) % len(fields)
        parts.append(line[end:])
    return parts, turn


def repeated(line: str, fields: list[list[str]], turn: int) -> Iterator[tuple[int, int, int]]:
    """(field, begin, end) of each guess that a line repeats, in the order of the fields, from `turn` on."""
    mention = MENTION.search(line)
    place = mention.end() if mention else len(line)
    for number in range(turn, len(fields)):
        ways = "|".join(map(re.escape, fields[number])) or r"\Z."
        if match := re.compile(rf"(?<![\w.])(?:{ways})(?![\w%]|\.\d)").search(line, place):
            yield number, *match.span()
            place = match.end()


def key_of(text: str) -> str:
    """The name under which an answer is kept: it stays while the question does."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]
