"""Lessons and exercises for Colab: the same notebooks with one more cell, which installs the course.

That cell leaves what the runtime brings as it is: NumPy replaced under a running kernel needs a restart, and
another ipykernel or ipywidgets breaks Colab's own front end.  So packages are installed only where they are
missing, never upgraded, and the cell says so if one of them is too old for the course.
"""

import json
import tomllib
from pathlib import Path

from nbjudge.files import ROOT

JUPYTER = {"jupyterlab", "ipykernel", "ipywidgets"}  # Colab's own
CELL = """#@title Set-up: run this first (about 20 seconds)
# Installs the course beside what this runtime has; its NumPy and its Jupyter stay as they are.
import importlib.metadata, subprocess, sys

def has(name):
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False

missing = [line for name, line in {needed}.items() if not has(name)]
pip = [sys.executable, "-m", "pip", "install", "--quiet"]
if missing:
    subprocess.run([*pip, *missing], check=True)
if not has("rnnlab"):
    subprocess.run([*pip, "--no-deps", "rnnlab @ git+{repository}@{tag}"], check=True)

from rnncourse.lab import doctor

print(doctor.report(measured=False))"""


def colab_notebook(path: Path, repository: str, tag: str) -> str:
    """The text of a notebook with the set-up cell in front, for that tag of a published repository."""
    book = json.loads(path.read_text(encoding="utf-8"))
    text = set_up_cell(repository, tag)
    cell = {"cell_type": "code", "id": "set-up", "metadata": {}, "source": text.splitlines(True)}
    book["cells"].insert(0, cell | {"execution_count": None, "outputs": []})
    book["metadata"]["colab"] = {"provenance": []}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def set_up_cell(repository: str, tag: str) -> str:
    """The program of the set-up cell."""
    lines = json.dumps(needed_packages(), indent=4)
    return CELL.replace("{needed}", lines).replace("{repository}", repository).replace("{tag}", tag)


def needed_packages() -> dict[str, str]:
    """{name: requirement} of all that lessons import but Jupyter, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    requirements = {line.split(">=")[0].strip(): line.split(";")[0].strip() for line in lines}
    return {name: line for name, line in requirements.items() if name not in JUPYTER}


def write_colab(folder: Path, repository: str, tag: str) -> None:
    """Write every lesson and exercise for Colab into `folder`/colab."""
    for source in (*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb")):
        target = folder / "colab" / source.parent.name / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(colab_notebook(source, repository, tag), encoding="utf-8")
