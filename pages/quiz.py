"""Questions of a lesson that a reader answers on its page: predictions before an outcome, and recall.

The sources' own marks are enough.  Where a notebook covers an outcome until its reader has guessed
(rnncourse/guesses.py), a page asks for the prediction; what the prose of that section folds as an outcome is
shown with it.  Prose that hides another answer in `details` asks a question, and so does "Look for ...?".
assets/quiz.js shows the fields, keeps in the reader's browser what is written, and sets it beside the
outcome; without it a page shows all as text.
"""

import ast
import hashlib
import json
import re
from itertools import count, cycle
from pathlib import Path

import jinja2
from bs4 import BeautifulSoup, Tag

from rnncourse.guesses import assigned_guesses

SCRIPT = "assets/quiz.js"
MENTION = re.compile(r"guess|you predicted")  # a printed line from here on repeats the reader's guess
NONE = re.compile(r"(\((?:none, )+none\)|\[none\]|\bnone\b)")
TEMPLATE = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("template")), trim_blocks=True, autoescape=True
).get_template("quiz.html.j2")


def guess_attribute(source: str) -> str:
    """The attributes of a cell's element that name the guesses it asks for; "" where it asks for none."""
    names = assigned_guesses(ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M)))
    return f' data-key="{key_of(source)}" data-guesses="{" ".join(names)}"' if names else ""


def add_quizzes(html: str) -> str:
    """A lesson's page with its forms, which are hidden until a script shows them."""
    soup = BeautifulSoup(html, "html.parser")
    numbers = count()
    keys: dict[str, str] = {}  # of the cell that asks, by the name of a guess
    question = None  # the form of the section's last prediction
    for element in soup.select("[data-guesses], .guess-cover, .prose :is(h2, h3, details.outcome)"):
        if "data-guesses" in element.attrs:
            keys |= dict.fromkeys(element["data-guesses"].split(), element["data-key"])
        elif element.name != "details":
            question = None
        elif "guess-cover" in element["class"]:
            question = uncover(element, next(numbers), keys[element["data-names"].split()[0]], soup)
        elif question:
            element.summary.extract()
            element.name = "div"
            element["data-question"] = question["id"]
    for answer in soup.select(".prose details:not(.outcome)"):
        is_question = answer.summary.text.strip()[-1] in "?."  # else "Answer" or the like, behind a question
        question = answer.summary if is_question else answer.find_previous("p")
        own = form(next(numbers), key_of(question.text + answer.text), "answer")
        if is_question:  # it is asked above the reader's answer, and the lesson's is folded below
            paragraph = soup.new_tag("p")
            paragraph.extend([*answer.summary.contents])
            answer.summary.string = "Answer"
            answer.insert_before(paragraph)
        answer.insert_before(own)
    for question in open_questions(soup):
        question.insert_after(form(next(numbers), key_of(question.text), "note"))
    return str(soup)


def uncover(cover: Tag, number: int, key: str, soup: BeautifulSoup) -> Tag:
    """The form in place of a notebook's cover, with an element around the outcome that follows it."""
    fields = json.loads(cover["data-fields"])
    names = fields if len(fields) > 1 else ["Your prediction"]
    shown = cover.parent
    outcome = soup.new_tag("div", attrs={"class": "outcome"})
    outcome.extend([*shown.next_siblings])
    question = form(number, key, "guess", fields=names)
    shown.replace_with(question, outcome)
    mark_guesses(outcome, len(fields), soup)
    return question


def open_questions(soup: BeautifulSoup) -> list[Tag]:
    """The paragraphs "Look for ...?" without a folded answer in their section: nothing to compare with."""
    asks = re.compile(r"Look for.*\?(?!.*\)$)", re.S)  # an answer in brackets stands at once behind it
    asking = [p for p in soup.select(".prose p") if asks.match(p.text.strip())]
    after = [p.find_next(ends_or_answers) for p in asking]
    return [p for p, tag in zip(asking, after, strict=True) if tag is None or tag.name != "details"]


def ends_or_answers(tag: Tag) -> bool:
    """Whether it is a heading, or the fold of an answer."""
    if tag.name == "details":
        return "outcome" not in tag.get("class", ())
    return tag.name in ("h2", "h3")


def form(number: int, key: str, kind: str, **more: object) -> Tag:
    """The fields of one question."""
    html = TEMPLATE.render(id=f"question-{number}", key=key, kind=kind, **more)
    return BeautifulSoup(html, "html.parser").form


def mark_guesses(outcome: Tag, fields: int, soup: BeautifulSoup) -> None:
    """Put an element around each place where printed lines have "none" for a guess, the fields in turn."""
    turns = cycle(range(fields))
    for text in [text for block in outcome.select("pre.printed") for text in block.strings]:
        parts = []
        for line in text.splitlines(keepends=True):
            mention = MENTION.search(line)
            head = mention.end() if mention else len(line)
            pieces = NONE.split(line[head:])  # odd ones are guesses
            parts.append(line[:head] + pieces[0])
            for guess, after in zip(pieces[1::2], pieces[2::2], strict=True):
                mark = soup.new_tag("span", attrs={"class": "guessed", "data-field": str(next(turns))})
                mark.string = guess
                parts += [mark, after]
        text.replace_with(*filter(None, parts))


def key_of(text: str) -> str:
    """The name under which an answer is kept: it stays while the question does."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]
