"""`rnnlab start FOLDER` and `rnnlab update`: the course's notebooks in a folder of the learner's own.

A clone has its notebooks already; a wheel carries them as data files.  A note in the folder says which
version of each notebook was laid out, so that an update knows in which of them the learner wrote: such a
notebook is copied to work/before_update/ before a newer one takes its place.  Answers in work/ are never
touched.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import rnnlab
from nbjudge.files import ROOT, write_whole
from rnncourse.lab.notebooks import content_hash, set_aside

# Where the course is published, such as https://github.com/NAME/rnnlab; empty until then.  README's line for
# a clone, the site's links, and what is said about newer versions follow from it.
REPOSITORY = ""
FROM_REPOSITORY = f"pip install --upgrade 'rnnlab[lab] @ git+{REPOSITORY or 'ADDRESS'}'"  # without a clone
FOLDERS = ("notebooks", "exercises")
PINS = "constraints.txt"  # the tested versions
NAME = re.compile(r"[\w-]+")  # of a package, at the beginning of a requirement
NOTE = ".rnnlab.json"  # in a started folder: {"version": rnnlab's, "files": {name: hash of its content}}


class NoCourse(Exception):
    """The course cannot be laid out or found there; says why and what to do."""


def course_folder(otherwise: Path = ROOT) -> Path:
    """The course to work in: the started folder around the working directory, else the clone.

    Outside both it is `otherwise`, the folder that the package lies in, which may hold no notebooks.
    """
    try:
        begin = Path.cwd()
    except OSError:  # the working directory was removed
        return otherwise
    started = (folder for folder in (begin, *begin.parents) if (folder / NOTE).is_file())
    return next(started, otherwise)


def start(folder: Path) -> list[str]:
    """Lay lessons and exercises out in a new folder; sentences that say what is there, or NoCourse."""
    folder = folder.absolute()
    if (folder / NOTE).exists():
        raise NoCourse(f"{folder} holds the course already: `rnnlab update` there brings newer lessons")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NoCourse(f"{folder} is not empty: name a new folder, or an empty one")
    notebooks = shipped()
    lay_out(folder, notebooks, {})
    lessons = sum(name.startswith("notebooks/") for name in notebooks)
    return [
        f"{folder} holds {lessons} lessons in notebooks/ and their exercises in exercises/.",
        *untested(),
        f"Now: cd {folder} && rnnlab lab",
    ]


def untested() -> list[str]:
    """A sentence about packages whose installed versions are not the tested ones; empty if all are."""
    tested = tested_versions()
    needed = {match[0].lower() for line in metadata.requires("rnnlab") or [] if (match := NAME.match(line))}
    installed = {name: version for name in needed & tested.keys() if (version := _version(name))}
    others = [name for name in sorted(installed) if tested[name] != installed[name]]
    if not others:
        return []
    words = ", ".join(f"{name} {installed[name]} (tested: {tested[name]})" for name in others)
    pins = " ".join(f"{name}=={tested[name]}" for name in others)
    return [
        f"Not tested with these versions: {words}. If a lesson fails: {sys.executable} -m pip install {pins}"
    ]


def tested_versions() -> dict[str, str]:
    """{package: version} of constraints.txt, in the clone or in the wheel's data; empty if it is missing."""
    places = (ROOT / PINS, *(path for name, path in _data_files() if name == PINS))
    path = next((path for path in places if path.is_file()), None)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return dict(line.split("==") for line in lines)


def update(folder: Path) -> list[str]:
    """Bring the lessons of a started folder to those of the installed package; sentences on what changed."""
    note = read_note(folder)
    sentences = lay_out(folder, shipped(), note["files"])
    if not sentences:
        installed = f"the lessons of rnnlab {rnnlab.__version__}, the version that is installed"
        return [f"{folder} has {installed}. For a newer one: {FROM_REPOSITORY}"]
    return [f"From rnnlab {note['version']} to {rnnlab.__version__}:", *sentences, "Now: rnnlab lab"]


def shipped() -> dict[str, Path]:
    """{name such as "notebooks/02_bptt.ipynb": file} of this version, in the clone or the wheel's data."""
    if (ROOT / "notebooks").is_dir():
        files = (path for folder in FOLDERS for path in (ROOT / folder).glob("*.ipynb"))
        notebooks = {path.relative_to(ROOT).as_posix(): path for path in files}
    else:
        notebooks = {name: path for name, path in _data_files() if name != PINS}
    if not notebooks:
        raise NoCourse("this installation of rnnlab has no lessons: install its wheel by pip, or clone it")
    return dict(sorted(notebooks.items()))


def read_note(folder: Path) -> dict:
    """The note of a started folder; NoCourse where it is missing or damaged."""
    path = folder / NOTE
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise NoCourse(f"{folder} holds no course: `rnnlab start FOLDER` makes a folder with it") from None
    except ValueError:
        note = None
    if not (isinstance(note, dict) and isinstance(note.get("files"), dict) and "version" in note):
        raise NoCourse(f"{path} is damaged: remove it, move notebooks/ and exercises/ away, and start anew")
    return note


def lay_out(folder: Path, notebooks: dict[str, Path], before: dict[str, str]) -> list[str]:
    """Put each notebook in its place; sentences on all that is new, changed, gone, or moved aside.

    `before` has the hash of each notebook as it was laid out last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sentences = []
    files = {}
    for name, source in notebooks.items():
        content = source.read_bytes()
        target = folder / name
        files[name] = content_hash(content)
        if target.exists() and files[name] == before.get(name):
            continue  # this version lies there, with what the reader did to it
        if target.exists():
            sentences += keep_written(folder, name, {before.get(name), files[name]})
        known = before.get(name, files[name]) != files[name]
        sentences.append(f"{'changed' if known else 'restored' if name in before else 'new'}: {name}")
        target.parent.mkdir(exist_ok=True)
        write_whole(target, content)
    for name in sorted(before.keys() - notebooks.keys()):
        if (folder / name).exists():
            sentences += [*keep_written(folder, name, {before[name]}), f"gone: {name}"]
            (folder / name).unlink()
    note = {"version": rnnlab.__version__, "files": files}
    write_whole(folder / NOTE, json.dumps(note, indent=1).encode())
    return sentences


def keep_written(folder: Path, name: str, untouched: set[str | None]) -> list[str]:
    """Set a notebook aside, and say so, if its hash is none of those in `untouched`."""
    if content_hash((folder / name).read_bytes()) in untouched:
        return []
    return [f"you had written in {name}: yours is now {set_aside(folder, name)}"]


def _data_files() -> Iterator[tuple[str, Path]]:
    """(name, file) of the notebooks that the installed wheel brought, wherever its scheme has put them."""
    try:
        files = metadata.files("rnnlab") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.suffix == ".ipynb" and file.parent.name in FOLDERS:
            yield f"{file.parent.name}/{file.name}", Path(file.locate())
        elif file.name == PINS:
            yield PINS, Path(file.locate())


def _version(name: str) -> str | None:
    """The installed version of a package; None where it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
