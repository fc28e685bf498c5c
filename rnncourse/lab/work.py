"""The one module that writes where a learner writes: copies of the exercises, and lessons that are updated.

What somebody wrote is never overwritten. A hash of the cells tells whether that is so, whatever a run has
left in a notebook. work/.origins.json keeps which exercise each copy came from, a note in a started folder
which version of each lesson was laid out; git knows it of a clone. A copy that nobody touched is replaced by
a newer exercise, one with answers is kept and named. A lesson in which somebody wrote is copied to
work/before_update/ before a newer one takes its place. Needs the standard library only.

`rnnlab start FOLDER` and `rnnlab update` bring the notebooks of an installed wheel, which carries them as
data files; `make update` those of the newest commit.
"""

import errno
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import rnnlab
from nbjudge.files import ROOT, write_whole
from rnncourse.lab.environment import forget_compiled, read_object
from rnncourse.remedies import Refusal, command_line, pip_install

# Where the course is published, such as https://github.com/NAME/rnnlab; empty until then.  README's line for
# a clone, the site's links, and what is said about newer versions follow from it.
REPOSITORY = ""
FROM_REPOSITORY = f"pip install --upgrade 'rnnlab[lab] @ git+{REPOSITORY or 'ADDRESS'}'"  # without a clone
FOLDERS = ("notebooks", "exercises")
PINS = "constraints.txt"  # the tested versions
NAME = re.compile(r"[\w-]+")  # of a package, at the beginning of a requirement
NOTE = ".rnnlab.json"  # in a started folder: {"version": rnnlab's, "files": {name: hash of its content}}
ORIGINS = ".origins.json"  # in work/: {name of a copy: hash of the exercise that it came from}
READ = ("notebooks", "exercises", "solutions")  # what a reader of a clone opens


class NoCourse(Refusal):
    """The course cannot be laid out, found or updated; says why and what to do."""


@dataclass(frozen=True)
class Copies:
    """Paths in work/: copies made now, replaced by a newer exercise, and kept although theirs has changed.

    renamed: (before, after) where a lesson has a new number.  doubled: copies that keep their old number,
    because the new one is taken by a copy with answers.
    """

    new: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    outdated: list[Path] = field(default_factory=list)
    renamed: list[tuple[Path, Path]] = field(default_factory=list)
    doubled: list[Path] = field(default_factory=list)


def copy_exercises(root: Path = ROOT) -> Copies:
    """Give each exercise a copy in work/, under its number of today, and say what became of the copies.

    Raises FileNotFoundError outside a clone, and OSError with a remedy where a copy cannot be written.
    """
    if not (root / "exercises").is_dir():
        raise FileNotFoundError(f"{root} holds no exercises/: run rnnlab in a clone of the course")
    copies = Copies()
    record = root / "work" / ORIGINS
    for step in (_renumber, _update_copy):  # origins are written in between: a renamed copy keeps its own
        origins = read_object(record)
        before = dict(origins)
        for source in sorted(root.glob("exercises/*.ipynb")):
            step(source, root / "work" / source.name, origins, copies)
        if origins != before:
            _write(record, json.dumps(origins, indent=1).encode())
    return copies


def _renumber(source: Path, copy: Path, origins: dict[str, str], copies: Copies) -> None:
    """Let the copy that an exercise had under another number take its number of today.

    It may take the place of a copy in which nobody wrote. A name that no origin knows is the learner's own
    file, and moves only if the exercise has no other copy.
    """
    numbered = copy.parent.glob(f"[0-9][0-9]{source.name[2:]}")
    earlier = [path for path in numbered if path.name != copy.name and path.is_file()]
    earlier.sort(key=lambda path: (path.name in origins, path.stat().st_mtime), reverse=True)
    for old in earlier:
        has_origin = old.name in origins
        if not copy.exists() or (has_origin and _is_blank(copy, source, origins)):
            with _with_remedy(copy):
                old.replace(copy)
            origins.pop(copy.name, None)
            if has_origin:
                origins[copy.name] = origins.pop(old.name)
            copies.renamed.append((old, copy))
        elif has_origin and hash_of(old) != origins[old.name]:
            copies.doubled.append(old)


def _is_blank(copy: Path, source: Path, origins: dict[str, str]) -> bool:
    """Whether nobody wrote in the copy."""
    return hash_of(copy) in (origins.get(copy.name), hash_of(source))


def _update_copy(source: Path, copy: Path, origins: dict[str, str], copies: Copies) -> None:
    """Make, replace or leave one copy; its origin is the exercise of today unless it is outdated.

    A copy from a time without origins is taken for one of today's exercise.
    """
    exercise = source.read_bytes()
    today = content_hash(exercise)
    origin = origins.setdefault(copy.name, today) if copy.exists() else None
    if origin is None:
        _write(copy, exercise)
        copies.new.append(copy)
    elif origin != today:
        present = hash_of(copy)
        if present not in (origin, today):
            copies.outdated.append(copy)
            return
        if present == origin:
            _write(copy, exercise)
            copies.replaced.append(copy)
    origins[copy.name] = today


def _write(target: Path, content: bytes) -> None:
    with _with_remedy(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)  # a half copy would never be made good


@contextmanager
def _with_remedy(target: Path) -> Iterator[None]:
    """Adds to an OSError what a learner can do about it."""
    try:
        yield
    except OSError as error:
        folder = target.parent
        aside = f"move {folder} aside, because it is a file"
        remedies = {errno.ENOSPC: "free some space", errno.EEXIST: aside, errno.ENOTDIR: aside}
        remedy = remedies.get(error.errno, f"make {folder} writable")
        message = f"cannot write {target} ({error.strerror}): {remedy}, then start again"
        raise type(error)(error.errno, message) from None


def content_hash(content: bytes) -> str:
    """Hash of the kinds and texts of all cells: equal for two notebooks that differ by runs only.

    Empty cells do not count: whoever runs the last cell of a notebook by Shift-Enter gets one below it.
    The hash of its bytes, if the content is not a notebook.
    """
    try:
        cells = json.loads(content)["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError):
        return hashlib.sha256(content).hexdigest()
    written = json.dumps([(kind, text) for kind, text in texts if text.strip()])
    return hashlib.sha256(written.encode()).hexdigest()


def hash_of(path: Path) -> str:
    """Hash of a notebook file's content."""
    return content_hash(path.read_bytes())


def keep_written(course: Path, name: str, untouched: Iterable[str | None]) -> list[str]:
    """Copy a notebook to work/before_update/, under a free name, and say so, if somebody wrote in it.

    untouched: the hashes that it may have if nobody did.
    """
    content = (course / name).read_bytes()
    if content_hash(content) in untouched:
        return []
    number = 1
    copy = course / "work/before_update" / name
    while copy.exists():
        number += 1
        copy = copy.with_stem(f"{Path(name).stem}-{number}")
    _write(copy, content)
    place = copy.relative_to(course).as_posix()
    return [f"You had written in {name}: yours is now {place}"]


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
    if folder.is_file():
        raise NoCourse(f"{folder} is a file: name a new folder, or an empty one")
    if folder.exists() and any(folder.iterdir()):
        raise NoCourse(f"{folder} is not empty: name a new folder, or an empty one")
    notebooks = shipped()
    folder.mkdir(parents=True, exist_ok=True)
    write_note(folder, {})  # if this is interrupted, `rnnlab update` continues
    lay_out(folder, notebooks, {})
    lessons = sum(name.startswith("notebooks/") for name in notebooks)
    return [
        f"{folder} holds {lessons} lessons in notebooks/ and their exercises in exercises/.",
        *untested(),
        f"Now: {command_line('cd', folder)} && rnnlab lab",
    ]


def update_started(folder: Path) -> list[str]:
    """Bring the lessons of a started folder to those of the installed package; sentences on what changed."""
    note = read_note(folder)
    sentences = lay_out(folder, shipped(), note["files"])
    if not sentences:
        installed = f"the lessons of rnnlab {rnnlab.__version__}, the version that is installed"
        return [f"{folder} has {installed}. For a newer one: {FROM_REPOSITORY}"]
    if note["version"] != rnnlab.__version__:
        sentences.insert(0, f"From rnnlab {note['version']} to {rnnlab.__version__}:")
    return [*sentences, "Now: rnnlab lab"]


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
    if not path.exists():
        raise NoCourse(f"{folder} holds no course: `rnnlab start FOLDER` makes a folder with it")
    note = read_object(path)
    if not isinstance(note.get("files"), dict) or "version" not in note:
        raise NoCourse(f"{path} is damaged: remove it, move notebooks/ and exercises/ away, and start anew")
    return note


def lay_out(folder: Path, notebooks: dict[str, Path], before: dict[str, str]) -> list[str]:
    """Put each notebook in its place; sentences on all that is new, changed, gone, or moved aside.

    `before` has the hash of each notebook as it was laid out last.
    """
    sentences = []
    files = {}
    for name, source in notebooks.items():
        content = source.read_bytes()
        target = folder / name
        newest = content_hash(content)
        files[name] = newest
        earlier = before.get(name)
        if target.exists():
            if earlier == newest:
                continue  # this version lies there, with what the reader did to it
            sentences += keep_written(folder, name, {earlier, newest})
        change = "changed"
        if earlier is None:
            change = "new"
        elif earlier == newest:
            change = "restored"
        sentences.append(f"{change}: {name}")
        _write(target, content)
    for name in sorted(before.keys() - notebooks.keys()):
        removed = folder / name
        if removed.exists():
            sentences += keep_written(folder, name, {before[name]})
            sentences.append(f"gone: {name}")
            removed.unlink()
    write_note(folder, files)
    return sentences


def write_note(folder: Path, files: dict[str, str]) -> None:
    """Keep in a started folder this version and the hash of each notebook that was laid out."""
    note = {"version": rnnlab.__version__, "files": files}
    _write(folder / NOTE, json.dumps(note, indent=1).encode())


def untested() -> list[str]:
    """A sentence about packages whose installed versions are not the tested ones; empty if all are."""
    tested = tested_versions()
    requirements = metadata.requires("rnnlab") or []
    needed = {match[0].lower() for match in map(NAME.match, requirements) if match}
    others = []
    pins = []
    for name in sorted(needed & tested.keys()):
        installed = _version(name)
        if installed not in (None, tested[name]):
            others.append(f"{name} {installed} (tested: {tested[name]})")
            pins.append(f"{name}=={tested[name]}")
    if not others:
        return []
    versions = ", ".join(others)
    return [f"Not tested with these versions: {versions}. If a lesson fails: {pip_install(*pins)}"]


def tested_versions() -> dict[str, str]:
    """{package: version} of constraints.txt, in the clone or in the wheel's data; empty if it is missing."""
    places = (ROOT / PINS, *(path for name, path in _data_files() if name == PINS))
    path = next((path for path in places if path.is_file()), None)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return dict(line.split("==") for line in lines)


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


def update_clone(root: Path) -> list[str]:
    """Bring the clone to its author's newest version; sentences that say what changed, or NoCourse."""
    if not (root / ".git").exists():
        raise NoCourse(f"{root} was not cloned by git: clone the course anew, and copy work/ there")
    git(root, "fetch", "--quiet", remedy="is there a network? Nothing was changed.")
    old = git(root, "rev-parse", "HEAD").decode().strip()
    new = git(root, "rev-parse", "@{upstream}", remedy="this branch follows no other; see `git branch -u`")
    new = new.decode().strip()
    common = git(root, "merge-base", old, new).decode().strip()
    if common == new:
        return ["Already the newest version."]
    if common != old:
        raise NoCourse(f"{root} has commits of your own: `git rebase` puts them after the newer ones")
    sentences = restore(root)
    try:
        git(root, "merge", "--ff-only", "--quiet", new, remedy="Undo or commit your changes: `git status`")
    except NoCourse as problem:
        raise NoCourse("\n".join([str(problem), *sentences])) from None
    forget_compiled(root)
    return [*sentences, *changes(root, old, new), "Now: make lab"]


def restore(root: Path) -> list[str]:
    """Undo what readers did to tracked notebooks; name those in which they wrote, and where that is now."""
    names = git(root, "diff", "--name-only", "-z", "--no-renames", "HEAD", "--", *READ).decode().split("\0")
    sentences = []
    for name in names:
        if name.endswith(".ipynb"):
            if (root / name).exists():
                committed = git(root, "show", f"HEAD:{name}")
                sentences += keep_written(root, name, [content_hash(committed)])
            git(root, "checkout", "--quiet", "HEAD", "--", name)
    return sentences


def changes(root: Path, old: str, new: str) -> list[str]:
    """Sentences naming what is different between two commits, as far as a learner will see it."""
    names = git(root, "diff", "--name-only", "-z", "--no-renames", old, new).decode().split("\0")
    notebooks = [name for name in names if name.endswith(".ipynb")]
    sentences = []
    for folder, noun in (("notebooks", "Lessons"), ("exercises", "Exercises")):
        stems = [Path(name).stem for name in notebooks if name.startswith(folder)]
        if stems:
            sentences.append(f"{noun} that changed: {', '.join(stems)}")
    count = git(root, "rev-list", "--count", f"{old}..{new}").decode().strip()
    return [*sentences, f"{count} commits in all; CHANGELOG.md says what they bring."]


def git(root: Path, *arguments: str, remedy: str = "") -> bytes:
    """What git prints; NoCourse with its own last words and the remedy where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True)
    except FileNotFoundError:
        raise NoCourse("git is not installed (Debian, Ubuntu: sudo apt-get install git)") from None
    if done.returncode:
        message = " ".join(done.stderr.decode(errors="replace").split())
        raise NoCourse(f"git {arguments[0]} says: {message} {remedy}".rstrip())
    return done.stdout


def main() -> int:
    """Update this clone and say what changed; 1 with a sentence where that is not possible."""
    try:
        for line in update_clone(ROOT):
            print(line, flush=True)
    except (NoCourse, OSError) as problem:
        print(f"no update: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
