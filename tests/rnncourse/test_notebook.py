"""The banner says in short lines what is live here; show_source shows what stands where."""

import numpy as np
import pytest
from values_in import holds

import rnnlab
from nbjudge.authoring import percent
from rnncourse import notebook

LINE = 95  # letters that fit beside JupyterLab's file list; a longer line is broken within a word


def test_the_banner_names_live_simulated_and_recorded_in_lines_that_fit_the_page(capsys):
    rnnlab.banner()
    text = capsys.readouterr().out
    assert all(len(line) <= LINE for line in text.splitlines())
    assert text.startswith(f"rnnlab {rnnlab.__version__} · live: NumPy {np.__version__} on ")
    assert all(f"{word}: " in text for word in ("simulated", "recorded"))


def test_the_banner_says_where_a_gpu_lies_idle(monkeypatch, capsys):
    monkeypatch.setattr(notebook.driver, "cuda_version", lambda: (12, 4))
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)
    rnnlab.banner()
    assert holds(capsys.readouterr().out, "CuPy", "make lab")


def test_the_banner_counts_a_usable_gpu_as_live_and_simulates_nothing_then(monkeypatch, capsys):
    monkeypatch.setattr(notebook.driver, "cuda_version", lambda: (12, 4))
    monkeypatch.setattr(notebook, "find_spec", lambda name: True)
    rnnlab.banner()
    text = capsys.readouterr().out
    assert holds(text, "CuPy", "GPU", "CUDA", "12.4")
    assert "no GPU" not in text


def test_a_function_is_shown_with_its_file_and_line(capsys):
    rnnlab.show_source(percent.defines)
    place, first, *_ = capsys.readouterr().out.splitlines()
    path, _, line = place.removeprefix("# ").partition(", line ")
    assert (notebook.ROOT / path).read_text().split("\n")[int(line) - 1] == first
    assert first.startswith("def defines(")


def test_a_module_is_shown_whole(capsys):
    rnnlab.show_source(percent)
    assert (
        capsys.readouterr().out
        == f"# nbjudge/authoring/percent.py\n{(notebook.ROOT / 'nbjudge/authoring/percent.py').read_text()}"
    )


def test_in_a_notebook_the_page_colours_the_source(monkeypatch):
    shown = []
    monkeypatch.setitem(notebook.sys.modules, "ipykernel", None)
    monkeypatch.setattr("IPython.display.display", shown.append)
    rnnlab.show_source(percent.defines)
    assert shown[0].data.startswith("`nbjudge/authoring/percent.py, line ")
    assert "\n````python\ndef defines(" in shown[0].data


@pytest.mark.parametrize("thing", [3, np.zeros(2), len])
def test_what_has_no_source_is_refused_in_words(thing):
    with pytest.raises(TypeError, match="show_source takes a Python function, class or module"):
        rnnlab.show_source(thing)


def test_in_a_terminal_the_source_is_coloured(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rnnlab.show_source(percent.defines)
    assert "\x1b[" in capsys.readouterr().out
