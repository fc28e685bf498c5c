"""A prediction that nobody has made is printed as none, in each way in which lessons print one."""

import ast
import os
import re
import sys
from contextlib import redirect_stdout
from html import escape
from io import StringIO

import pytest
from bs4 import BeautifulSoup
from IPython.core.interactiveshell import InteractiveShell
from page_browser import PageBrowser, needs_browser
from traitlets.config import Config

from nbjudge.authoring.course import ROOT
from nbjudge.authoring.percent import parse
from rnncourse import guesses

SOURCES = sorted(ROOT.glob("notebooks/source/*.py"))


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    guesses.prepare(shell)
    guesses.prepare(shell)
    return shell


def run(shell, cell):
    result = shell.run_cell(cell)
    result.raise_error()
    return result.result


@pytest.mark.parametrize(
    ("guess", "line", "printed"),
    [
        ("...", "f'{my_guess:.0%} {my_guess:,} {my_guess}'", "none none none"),
        ("{'read': ..., 'write': 4}", "str(my_guess)", "{'read': none, 'write': 4}"),
        ("..., ...", "' and '.join(my_guess)", "none and none"),
        ("[...]", "', '.join(my_guess)", "none"),
        ("...", "f'{40 - my_guess} {abs(my_guess / 2):.1f} {my_guess > 3}'", "none none False"),
    ],
)
def test_a_guess_that_was_not_made_is_none(shell, guess, line, printed):
    assert run(shell, f"my_guess = {guess}\n{line}") == printed


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["print(1)\nmy_guess = ...\nprint(2)\nprint(3)"], "1|23"),
        (["my_guess = {'a': ..., 'b': (..., ...)}\nprint(1)"], "|1"),
        (["my_guess = {'a': 5, 'b': ...}\nprint(1)"], "1"),
        (["my_guess, other = 0, ...\nprint(1)"], "1"),
        (["my_guess_a, b = ..., 2\nmy_guess_c = ...", "print(b, my_guess_c)"], "|2 none"),
        (["my_slopes = {...}\ndef f():\n    print(1)", "f()\nlen(my_slopes)\nf()"], "|11"),
        (["my_guess = ...", "for guess in (1, 2):\n    print(guess)"], "12"),
        (["my_guess = 3", "print(my_guess)"], "3"),
    ],
)
def test_what_follows_a_guess_that_was_not_made_lies_under_a_cover(cells, shown, monkeypatch):
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    guesses.prepare(shell)
    monkeypatch.setattr(guesses.Cover, "__repr__", lambda self: "|")
    with redirect_stdout(StringIO()) as printed:
        for cell in cells:
            shell.run_cell(cell).raise_error()
    InteractiveShell.clear_instance()
    assert printed.getvalue().replace("\n", "") == shown


OUTCOME = """
from IPython.display import HTML, display
print("before")
my_guess = ...
print("a < b,", end=" ")
print("c")
place = display(HTML("<b>first</b>"), display_id=True)
place.update(HTML("<b>second</b>"))
{end}
"""


@pytest.fixture
def shown(monkeypatch):
    """What a shell has displayed, by kind of data."""
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    guesses.prepare(shell)
    outputs = []
    publish = lambda data, *others, **named: outputs.append(data)
    monkeypatch.setattr(shell.display_pub, "publish", publish)
    error = lambda kind, error, trace: print(kind.__name__, file=sys.stderr)  # a kernel sends it by itself
    monkeypatch.setattr(shell, "_showtraceback", error)
    yield shell, outputs
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    "end",
    [
        "6 * 7",
        "6 * 7; 1 / 0",
        "import sys; print(42); _ = sys.stderr.write('warned')",
        "import sys; sys.stdout.isatty() or sys.stdout.writelines(['4', '2'])",
    ],
)
@pytest.mark.parametrize("program", ["Colab", "VS Code"])
def test_where_no_style_hides_an_outcome_the_cover_holds_it(program, end, shown, monkeypatch, capsys):
    shell, outputs = shown
    if program == "Colab":
        monkeypatch.setitem(sys.modules, "google.colab", sys)
    else:
        shell.user_ns["__vsc_ipynb_file__"] = "/home/a/02_bptt.ipynb"
    hooks = sys.stdout, sys.displayhook, shell.display_pub, os.environ.get("RNNLAB_WIDGETS", "")
    shell.run_cell(OUTCOME.format(end=end))
    assert hooks == (sys.stdout, sys.displayhook, shell.display_pub, os.environ.get("RNNLAB_WIDGETS", ""))
    printed = capsys.readouterr()
    assert printed.out == "before\n"
    assert ("ZeroDivisionError" in printed.err) == ("/ 0" in end)
    assert ("warned" in printed.err) == ("warned" in end)
    (cover,) = outputs
    page = BeautifulSoup(cover["text/html"], "html.parser")
    page.summary.extract()
    assert re.search(r"^a < b, c\n\s*second(\s*42)?$", page.details.get_text().strip())
    assert ("42" in page.get_text()) == ("/ 0" not in end)
    outputs.clear()
    shell.run_cell("print('next')\nmy_guess = 3\nprint(my_guess)")
    assert not outputs
    assert capsys.readouterr().out == "next\n3\n"


def test_a_cell_within_a_cell_loses_no_output_of_later_ones(shown, monkeypatch, capsys):
    shell, outputs = shown
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    shell.run_cell("my_guess = ...\nget_ipython().run_cell('my_factor = ...; print(my_factor)')")
    assert ["guess-cover" in data["text/html"] for data in outputs] == [True]
    shell.run_cell("display(3)\nprint('later')")
    assert outputs[1:] == [{"text/plain": "3"}]
    assert capsys.readouterr().out == "later\n"


def test_a_cell_that_fails_behind_a_cover_fails_on_its_own_line(shell):
    result = shell.run_cell("my_guess = ...\nprint(my_guess)\nmy_guess.nothing")
    assert result.error_in_exec.__traceback__.tb_next.tb_lineno == 3


def test_a_number_of_the_readers_own_stays(shell):
    assert run(shell, "my_guess = 5.0\nf'{my_guess:.0%}'") == "500%"
    assert run(shell, "rows = ...\nrows is ...") is True


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_lesson_makes_a_guess_for_its_reader(path):
    text = path.read_text(encoding="utf-8")
    assigned = re.findall(r"^my_guess\w* = (.*)", text, re.M)
    numbers = [value for value in assigned if "..." not in value and not value.startswith("set()")]
    assert not numbers


@needs_browser
def test_a_cover_that_holds_its_outcome_needs_no_style_of_the_page_around_it(tmp_path):
    cover = guesses.Cover(["my_guess"], ["guess"])
    cover.outcome = "<span id=outcome>9</span>"
    frame = escape(f"<pre>before</pre>{cover._repr_html_()}")
    (tmp_path / "frame.html").write_text(f'<iframe sandbox="allow-scripts" srcdoc="{frame}"></iframe>')
    with PageBrowser(tmp_path / "profile") as pages:
        pages.show((tmp_path / "frame.html").as_uri())
        pages.browser.switch_to.frame(0)
        find = pages.browser.find_element
        visible = lambda: pages.browser.execute_script(VISIBLE, find("id", "outcome"))
        assert not visible()
        find("css selector", "summary").click()
        assert visible()


def page_with_a_cover():
    """A covered cell and the prose below it, in the elements that JupyterLab makes of them."""
    shown = guesses.Cover(["my_guess"], ["guess"])._repr_html_()
    stream = 'data-mime-type="application/vnd.jupyter.{}"'
    lines = [f"<pre {stream.format(name)} id={name}>9</pre>" for name in ("stdout", "stderr")]
    children = [f'<div class="jp-OutputArea-child">{output}</div>' for output in (shown, *lines)]
    folded = "<details class=outcome><summary>What came out</summary><p id=prose>9</p></details>"
    cells = f'<div class="jp-CodeCell">{"".join(children)}</div><div class="jp-MarkdownCell">{folded}</div>'
    return f"<style>{guesses.STYLE}</style>{cells}"


@needs_browser
def test_a_cover_hides_an_outcome_only_on_a_screen_and_where_it_can_be_opened(tmp_path):
    everything = {"stdout", "stderr", "prose"}
    html = page_with_a_cover()
    with PageBrowser(tmp_path / "profile") as pages:
        find = pages.browser.find_element
        visible = lambda name: pages.browser.execute_script(VISIBLE, find("id", name))
        seen = lambda: {name for name in everything if visible(name)}
        line = lambda: find("css selector", "summary").get_property("innerText")
        (tmp_path / "jupyter.html").write_text(html)
        (tmp_path / "other.html").write_text(html.replace('class="jp-', 'class="'))
        for program, at_first, opened in (
            ("jupyter", {"stderr"}, everything),
            ("other", {"stdout", "stderr"}, {"stdout", "stderr"}),
        ):
            pages.show((tmp_path / f"{program}.html").as_uri())
            assert seen() == at_first
            assert ("read on" in line()) is ("stdout" in at_first)
            pages.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            assert seen() == everything
            pages.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen"})
            find("css selector", ".guess-cover summary").click()
            assert seen() == opened


VISIBLE = "return arguments[0].checkVisibility({contentVisibilityAuto: true})"
FOLD = re.compile(r"<details.*?</details>", re.S)
HEADING = re.compile(r"^#+ ", re.M)
# a paragraph that begins with a number, or what came out in the author's runs
TELLS = re.compile(r"^(?!\d\. )(?:\*\*)?\d.*|.*\bIn our runs?\b.*", re.M)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_what_an_outcome_was_is_folded_in_the_prose_below_it(path):
    revealed, covered = [], False
    for cell in parse(path.read_text(encoding="utf-8"), path.stem):
        if cell.kind == "code":
            program = ast.parse(re.sub("^%.*", "", cell.text, flags=re.M))
            covered = covered or "cover(" in ast.unparse(guesses.Guesses().visit(program))
            continue
        first, *rest = HEADING.split(FOLD.sub("", cell.text))
        if covered:
            revealed += TELLS.findall(first)
        covered = covered and not rest
    assert not revealed
