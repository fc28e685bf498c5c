"""`make update`: the newest lessons, and what has changed in them.

Lessons are files that git tracks, and a reader who saves one leaves its outputs in it, which git would not
overwrite. Outputs are thrown away, for the next run makes them again; a lesson in which the reader wrote is
first copied to work/before_update/. Answers in work/ are never touched. Needs the standard library only.
"""

import subprocess
import sys
from pathlib import Path

from nbjudge.files import ROOT
from rnncourse.lab.environment import forget_compiled
from rnncourse.lab.notebooks import content_hash, set_aside

READ = ("notebooks", "exercises", "solutions")  # what a reader opens


class NoUpdate(Exception):
    """The course stays as it is; says why and what to do."""


def main() -> int:
    """Update this clone and say what changed; 1 with a sentence where that is not possible."""
    try:
        for line in update(ROOT):
            print(line, flush=True)
    except (NoUpdate, OSError) as problem:
        print(f"no update: {problem}", file=sys.stderr)
        return 1
    return 0


def update(root: Path) -> list[str]:
    """Bring the clone to its author's newest version; sentences that say what changed, or NoUpdate."""
    if not (root / ".git").exists():
        raise NoUpdate(f"{root} was not cloned by git: clone the course anew, and copy work/ there")
    git(root, "fetch", "--quiet", remedy="is there a network? Nothing was changed.")
    old = git(root, "rev-parse", "HEAD").decode().strip()
    new = git(root, "rev-parse", "@{upstream}", remedy="this branch follows no other; see `git branch -u`")
    new = new.decode().strip()
    if git(root, "merge-base", old, new).decode().strip() == new:
        return ["Already the newest version."]
    sentences = restore(root)
    git(root, "merge", "--ff-only", "--quiet", new, remedy="Undo or commit your changes: `git status`")
    forget_compiled(root)
    return [*sentences, *changes(root, old, new), "Now: make lab"]


def restore(root: Path) -> list[str]:
    """Undo what readers did to tracked notebooks; name those in which they wrote, and where that is now."""
    sentences = []
    for path in _changed_notebooks(root):
        saved = root / path
        if saved.exists() and content_hash(saved.read_bytes()) != content_hash(
            git(root, "show", f"HEAD:{path}")
        ):
            sentences.append(f"You had written in {path}: yours is now {set_aside(root, path)}")
        git(root, "checkout", "--quiet", "HEAD", "--", path)
    return sentences


def changes(root: Path, old: str, new: str) -> list[str]:
    """Sentences naming what is different between two commits, as far as a learner will see it."""
    names = git(root, "diff", "--name-only", "-z", "--no-renames", old, new).decode().split("\0")
    sentences = []
    for folder, noun in (("notebooks", "Lessons"), ("exercises", "Exercises")):
        stems = [Path(name).stem for name in names if name.startswith(folder) and name.endswith(".ipynb")]
        if stems:
            sentences.append(f"{noun} that changed: {', '.join(stems)}")
    log = git(root, "rev-list", "--count", f"{old}..{new}").decode().strip()
    return [*sentences, f"{log} commits in all; CHANGELOG.md says what they bring."]


def git(root: Path, *arguments: str, remedy: str = "") -> bytes:
    """What git prints; NoUpdate with its own last words and the remedy where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True)
    except FileNotFoundError:
        raise NoUpdate("git is not installed (Debian, Ubuntu: sudo apt-get install git)") from None
    if done.returncode:
        words = " ".join(done.stderr.decode(errors="replace").split())
        raise NoUpdate(f"git {arguments[0]} says: {words} {remedy}".rstrip())
    return done.stdout


def _changed_notebooks(root: Path) -> list[str]:
    """Paths of tracked notebooks that are not as their commit has them."""
    paths = git(root, "diff", "--name-only", "-z", "--no-renames", "HEAD", "--", *READ).decode().split("\0")
    return [path for path in paths if path.endswith(".ipynb")]


if __name__ == "__main__":
    sys.exit(main())
