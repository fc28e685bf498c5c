"""Predictions of a lesson: until a reader makes one, it prints as "none" and its outcome is covered.

A cell that prints a number which nobody wrote would claim a guess.  So a lesson assigns Python's own `...`,
which the reader replaces; until then it becomes NOTHING, which any line of a lesson can print, format and
calculate with.  What such a cell shows from there on lies under a Cover, as does what a later cell shows that
reads the guess: a line that the reader opens by a click or a key.  The cell runs to its end all the same.
The site puts the fields of its pages where these covers are (pages/quiz.py).

Colab shows the outputs of each cell in a frame of their own, which no style of another cell reaches, and
VS Code has other elements than JupyterLab.  There the cover holds the outcome itself.
"""

import ast
import json
import os
import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from html import escape
from io import TextIOBase

NAME = re.compile(r"(my_)?guess\w*$|my_(factor|prediction|exponents|slopes)\w*$")
VSCODE = "__vsc_ipynb_file__"  # a variable that VS Code gives each notebook
WIDGETS = "RNNLAB_WIDGETS"  # see figures/picture.py
LINE = "No guess yet: write yours in place of ..., or"
# of JupyterLab and pages that nbconvert makes: behind a closed cover every output is hidden, but errors and
# warnings are not; the fold of prose below it opens with it, or at once if there is a guess. Paper shows all.
# In another program than those above and JupyterLab, the outcome is seen below the line.
CODE = "white-space: pre-wrap; font-family: monospace"
STYLE = """
@media screen {
.guess-cover summary { cursor: pointer; }
.jp-OutputArea-child .guess-cover span { display: none; }
.jp-OutputArea-child .guess-cover summary::after { content: "open the outcome"; }
.jp-OutputArea-child:has(.guess-cover:not([open])) ~ .jp-OutputArea-child:not(
  :has([data-mime-type$=".error"], [data-mime-type$=".stderr"])) { display: none; }
.jp-CodeCell:not(.jp-mod-noOutputs, :has(.guess-cover:not([open])), :has(.guess-cover:not([open])) + *)
  + .jp-MarkdownCell details.outcome {
  &::details-content { content-visibility: visible; }
  summary { display: none; }
}
}
@media print { details.outcome::details-content { content-visibility: visible; } }
"""


class NoGuess(str):
    """Takes the place of a number, a word or a part of a guess, and leaves nothing of either."""

    __slots__ = ()

    __repr__ = str.__str__

    def __format__(self, specification: str) -> str:
        return str(self)

    def _itself(self, *others: object) -> "NoGuess":
        return self

    def _false(self, other: object) -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _itself
    __truediv__ = __rtruediv__ = __neg__ = __abs__ = __getitem__ = __round__ = _itself
    __lt__ = __le__ = __gt__ = __ge__ = _false


NOTHING = NoGuess("none")


class Cover:
    """A line above an outcome; in JupyterLab it hides the outcome until the reader opens it."""

    def __init__(self, names: list[str], fields: list[str]):
        self.names = names  # of the variables that hold the guesses
        self.fields = fields  # what a page asks for, in words
        self.outcome = ""  # HTML, where the cover holds it

    def __repr__(self) -> str:
        return f"{LINE} read on."

    def _repr_html_(self) -> str:
        fields = escape(json.dumps(self.fields, ensure_ascii=False))
        attributes = f'class="guess-cover" data-names="{" ".join(self.names)}" data-fields="{fields}"'
        remedy = "open the outcome" if self.outcome else "read on"
        line = f"<summary>{LINE} <span>{remedy}</span></summary>"
        return f"<details {attributes}>{line}{self.outcome}</details>"


def cover(**guesses: object) -> None:
    """Cover what the cell shows from here on, unless a part of a guess is there."""
    if any(part is not NOTHING for part in _parts([*guesses.values()])):
        return
    from IPython import get_ipython
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.display import display

    shown = Cover([*guesses], _fields(guesses))
    shell = get_ipython()
    is_plain = "google.colab" not in sys.modules and VSCODE not in getattr(shell, "user_ns", ())
    if is_plain or isinstance(shell.display_pub, CapturingDisplayPublisher):  # or a cell within such a cell
        display(shown)
    else:
        _hold_outcome(shell, shown)


def _hold_outcome(shell: object, shown: Cover) -> None:
    """Display the cover when the cell has ended, with all that the cell has shown in the meantime."""
    from IPython.display import display
    from IPython.utils.capture import capture_output

    stack = ExitStack()
    stack.enter_context(capture_output(stdout=False, stderr=False))
    outputs = shell.display_pub.outputs
    stream = TextIOBase()  # with all that a program may ask of one, such as isatty()
    stream.write = lambda text: outputs.append({"data": {"text/plain": text}})
    stack.enter_context(redirect_stdout(stream))
    widgets = os.environ.get(WIDGETS, "")
    os.environ[WIDGETS] = "off"  # a page holds pictures, and no sliders

    def end(result: object) -> None:
        shell.events.unregister("post_run_cell", end)
        hook = sys.displayhook  # capture_output would put back the one that it found within the cell
        stack.close()
        sys.displayhook = hook
        os.environ[WIDGETS] = widgets
        places = {}  # by identity: an update takes the place of an earlier output
        for number, output in enumerate(outputs):
            transient = output.get("transient") or {}
            identity = transient.get("display_id") or number
            places[identity] = output["data"]
        shown.outcome = "".join(map(_html, places.values()))
        display(shown)

    shell.events.register("post_run_cell", end)


def _html(data: dict) -> str:
    """HTML of one output: a picture, or text that continues the line before it."""
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return data[kind]
    if image := data.get("image/png"):
        code = b64encode(image).decode() if isinstance(image, bytes) else image
        return f'<img src="data:image/png;base64,{code}">'
    text = data.get("text/markdown") or data.get("text/plain", "")
    return f'<span style="{CODE}">{escape(text)}</span>'


def _parts(guess: object) -> Iterator[object]:
    """The numbers and words that a guess consists of."""
    if isinstance(guess, dict):
        guess = [*guess.values()]
    if not isinstance(guess, list | tuple | set):
        yield guess
        return
    for part in guess:
        yield from _parts(part)


def _fields(guesses: dict[str, object]) -> list[str]:
    """One field for a number or words, one for each key of a dictionary."""
    fields = []
    for name, guess in guesses.items():
        if isinstance(guess, dict):
            for key in guess:
                fields.append(f"{key:g}" if isinstance(key, float) else str(key))
        else:
            word = re.sub("^(my_)?(guess_)?", "", name)
            fields.append(word.replace("_", " "))
    return fields


class Guesses(ast.NodeTransformer):
    """Replaces `...` by NOTHING where a cell assigns it to a guess, and covers what the cell shows then."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        assigned = assigned_guesses(module)
        place = max(assigned.values(), default=0)
        names = [*assigned] or _read_guesses(module)
        self.generic_visit(module)
        if names and shows(module.body[place:]):
            guesses = ", ".join(f"{name}={name}" for name in names)
            before = module.body[max(place - 1, 0)]
            call = _from_here(f"cover({guesses})", before, "exec")
            module.body.insert(place, call)
        return module

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if _guesses_of(node):
            node.value = _Nothing().visit(node.value)
        return node


class _Nothing(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _from_here("NOTHING", node, "eval") if node.value is ... else node


def _from_here(source: str, place: ast.AST, mode: str) -> ast.AST:
    """The node of an attribute of this module, on the line of another node."""
    tree = ast.parse(f"__import__({__name__!r}, fromlist=['cover']).{source}", mode=mode)
    node = tree.body[0] if mode == "exec" else tree.body
    for part in ast.walk(node):
        ast.copy_location(part, place)
    return node


def _names(tree: ast.AST, context: type) -> list[str]:
    """Names of guesses that a tree stores or loads, each once."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names = [node.id for node in nodes if isinstance(node.ctx, context)]
    return [*dict.fromkeys(filter(NAME.match, names))]


def _guesses_of(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.Assign):
        return []
    return _names(statement.targets[0], ast.Store)


def assigned_guesses(module: ast.Module) -> dict[str, int]:
    """{name of a guess: number of the statements up to the one that assigns it}."""
    numbered = enumerate(module.body, 1)
    return {name: number for number, statement in numbered for name in _guesses_of(statement)}


def _read_guesses(module: ast.Module) -> list[str]:
    """Guesses of an earlier cell."""
    stored = _names(module, ast.Store)
    return [name for name in _names(module, ast.Load) if name not in stored]


def shows(statements: list[ast.stmt]) -> bool:
    """Whether statements print or show something: one of them, outside functions, is an expression."""
    for statement in statements:
        if not isinstance(statement, ast.FunctionDef):
            if any(isinstance(node, ast.Expr) for node in ast.walk(statement)):
                return True
    return False


def prepare(shell: object) -> None:
    """Let the cells of an IPython shell have guesses that nobody has made; a second call changes nothing."""
    if not any(isinstance(transformer, Guesses) for transformer in shell.ast_transformers):
        shell.ast_transformers.append(Guesses())
