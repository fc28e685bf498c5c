"""The front page and what a lesson says of itself: figures from their sources, titles, disturbance."""

import nbformat
import pytest
from bs4 import BeautifulSoup
from values_in import holds

from nbjudge.authoring.course import ROOT
from pages import build, front, race, run
from pages.notebook import main_part
from pages.opening import opening, openings, read_opening
from pages.prose import Prose, coloured
from pages.run import LessonRun
from pages.site import Site
from rnncourse import checks
from rnncourse.lab.turns import Timing, disturbance

LESSONS = "00_start_here", "02_bptt"
soup = lambda text: BeautifulSoup(text, "html.parser")


def test_every_ability_and_every_act_names_a_lesson_that_is_there():
    names = {lesson.stem for lesson in openings()}
    assert {name for name, *_ in (*front.ACTS, *front.ABILITIES)} <= names
    assert front.ACTS[0][0] == openings()[0].stem, "each lesson belongs to an act"
    assert front.rows().keys() == {lesson.stem for lesson in openings()}
    assert not [words for words in front.rows().values() if "|" in words]


def test_every_lesson_says_its_title_and_its_minutes_and_one_without_is_refused():
    assert [lesson.stem for lesson in openings()] == [path.stem for path in build.all_lessons()]
    assert all(lesson.minutes > 0 and lesson.title and lesson.claim for lesson in openings())
    with pytest.raises(ValueError, match="Time"):
        read_opening("07_x", "# 07 · Threads\n\n- **Time:** long")
    with pytest.raises(ValueError, match="Title"):
        read_opening("07_x", "# Threads\n\n- **Time:** 30 minutes")


def test_the_front_page_offers_the_services_of_a_published_repository_alone(tmp_path):
    addresses = lambda site: [door.address for door in front.doors(site)]
    published = Site(tmp_path, repository="https://github.com/name/rnnlab")
    assert any("colab" in address for address in addresses(published))
    assert any("mybinder" in address for address in addresses(published))
    assert not [address for address in addresses(Site(tmp_path)) if "://" in address]


def test_the_figures_of_the_front_page_are_those_of_their_sources(tmp_path):
    figures = [figure.number for figure in front.key_figures(Site(tmp_path))]
    assert figures[0] == f"{64 * 65 // 2:,} → 64"
    assert figures[-1] == str(sum(len(checks.catalogue(lesson)) for lesson in checks.LESSONS))
    case = lambda ours, theirs: {"seconds": {"a": [ours], "pytorch": [theirs]}}
    record = {
        "cases": [case(1.0, 2.5), case(1.0, 30.0), {"seconds": {"a": [1.0]}}],
        "contestants": {"a": {"is_rung": True}, "pytorch": {"is_rung": False}},
        "machine": {"processor": "P & Co", "cores": 2},
        "date": "2026-01-02T03:04",
    }
    (figure,) = front.speed(record, "records/a.html")
    assert figure.number == f"{(2.5 * 30) ** 0.5:.1f} ×"
    assert holds(figure.text, "2.50", "30")
    assert "P &amp; Co" in figure.text


def test_one_place_for_the_barrier_mends_the_race_and_reverses_the_numbers():
    replays = [*race.replays()]
    clean = [label for label, replay, _ in replays if not replay.trace["findings"]]
    right = [label for label, _, x in replays if x.tolist() == [*range(race.THREADS)][::-1]]
    assert clean == right == [replays[2][0]]
    for _, replay, _ in replays:
        (source,) = replay.trace["sources"]
        assert [line.strip() for line in source["lines"]].count(race.BARRIER.strip()) <= 1
        assert source["first"] == 1


def test_the_race_opens_at_a_read_of_what_no_thread_has_written_and_fits_into_a_page(tmp_path):
    trace = next(race.replays())[1].trace
    step = race.first_read(trace)
    thread, element = (trace["events"][name][step - 1] for name in ("thread", "element"))
    assert thread + element == race.THREADS - 1
    assert element not in trace["events"]["thread"][:step]
    front.write_front(Site(tmp_path), {})
    page = tmp_path / "index.html"
    assert page.stat().st_size < 300_000
    assert soup(page.read_text()).select_one("#race-replay img")["alt"]
    remedy = trace["findings"][0]["remedy"]  # what the page asks for
    assert remedy
    assert remedy not in page.read_text()


def test_a_long_line_of_code_goes_on_further_in_than_it_began():
    lines = BeautifulSoup(coloured("def f():\n    return 1\n\n\nf()", "python"), "html.parser").select(
        ".line"
    )
    assert [line.text for line in lines] == ["def f():\n", "    return 1\n", "\n", "\n", "f()\n"]
    assert [line.get("style") for line in lines] == [None, "--i:4", None, None, None]


def test_what_one_cell_prints_stands_in_one_box_however_it_arrived():
    lines = [nbformat.v4.new_output("stream", name="stdout", text=f"T = {2**n}\n") for n in range(6)]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("loop()", outputs=lines)])
    (box,) = BeautifulSoup(main_part(book, Prose(lambda link: link), None), "html.parser").select(
        "pre.printed"
    )
    assert box.text.split("\n")[::5] == ["T = 1", "T = 32"]


def test_a_lesson_that_was_disturbed_while_it_ran_is_known_and_its_page_says_so(tmp_path):
    loud = disturbance({"a": Timing((1.0, 1.0, 1.0), load=9.0)})
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("a"), nbformat.v4.new_markdown_cell(loud)]
    )
    assert not LessonRun(book, "m", "d", 1.0).is_disturbed, "prose is not a measurement"
    book.cells[0].outputs = [nbformat.v4.new_output("stream", text=loud + "\n")]
    noisy = LessonRun(book, "m", "d", 1.0)
    assert noisy.is_disturbed
    assert LessonRun(nbformat.v4.new_notebook(), "m", "d", 1.0, others=0.4).is_disturbed, "no cell said so"
    site = Site(tmp_path, runs={"02_bptt": noisy})
    assert site.disturbed() == ["02_bptt"]
    assert 'class="disturbed"' in build.lesson_notes(site, "02_bptt", noisy)
    front.write_front(site, {"02_bptt": str(opening("02_bptt"))})
    assert " 02." in soup((tmp_path / "index.html").read_text()).select_one(".disturbed").text


def test_a_lesson_with_outputs_names_no_folder_of_the_builders_and_shows_no_bar(tmp_path, monkeypatch):
    source = f"import os; print({str(ROOT)!r}, os.getcwd())\nfrom tqdm.auto import tqdm; [*tqdm([1])]"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source + ";")])
    nbformat.write(book, tmp_path / "lesson.ipynb")
    monkeypatch.setattr(run.crowd, "others_part", iter([0.1, 0.6]).__next__)
    ran = run._execute(tmp_path / "lesson.ipynb")
    (cell,) = ran.cells
    assert ran.metadata["rnnlab_run"]["others"] == 0.6
    assert [output.get("text") for output in cell.outputs] == ["~/rnnlab ~\n"]


def test_each_lesson_has_its_line_while_the_site_is_built(monkeypatch, capsys):
    answers = iter(
        [LessonRun(nbformat.v4.new_notebook(), "m", "2026-01-02", 7.4, stored) for stored in (True, False)]
    )
    monkeypatch.setattr(build, "run_lesson", lambda path, folder: next(answers))
    build.run_lessons([ROOT / f"notebooks/{stem}.ipynb" for stem in LESSONS])
    first, second = capsys.readouterr().out.splitlines()
    for line, title, ending in ((first, LESSONS[0], "2026-01-02"), (second, LESSONS[1], "7 s")):
        assert str(opening(title)) in line
        assert ending in line


def test_a_lesson_that_is_wanted_again_runs_again(tmp_path, monkeypatch):
    ran = []
    book = lambda path: (
        ran.append(path)
        or nbformat.v4.new_notebook(metadata={"rnnlab_run": {"machine": "m", "date": "d", "seconds": 1.0}})
    )
    monkeypatch.setattr(run, "_execute", book)
    path = ROOT / "notebooks/02_bptt.ipynb"
    assert [run.run_lesson(path, tmp_path).is_stored for _ in range(2)] == [False, True]
    run.stored_run(path, tmp_path).unlink()
    assert not run.run_lesson(path, tmp_path).is_stored
    assert len(ran) == 2
