"""Which code decides a lesson's verdicts, as a digest: a result is of this grader or of another one.

The digest covers the modules that the judge and the lesson's check import, directly or not, what runs in an
answer's process, and the packed answers. A change elsewhere in the package leaves every result valid.
"""

import hashlib
import re
import zlib
from functools import cache
from pathlib import Path

from nbjudge.course import current
from nbjudge.running.sandbox import CHECKOUT, INSIDE

DIGITS = 16
IMPORT = re.compile(r"^ *(?:import +([\w.]+)|from +([\w.]+) +import +(?:\(([^)]*)\)|(.*)))", re.M)


@cache
def grader_digest(lesson: str) -> str:
    """The digest of all code that decides a verdict of one lesson, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(_files(lesson)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(CHECKOUT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:DIGITS]


def _files(lesson: str) -> set[Path]:
    """The files that the verdicts of a lesson depend on."""
    course = current()
    waiting = ["nbjudge.grading.grade", "nbjudge.variants", type(course).__module__]
    waiting += [course.check_module(lesson), *(course.kind.loads if has_kernels(lesson) else ())]
    reached = {
        course.packed(lesson),
        *INSIDE.glob("*.py"),
        CHECKOUT / course.kind.module,
        CHECKOUT / course.kind.builder,
    }
    while waiting:
        for path in _modules(waiting.pop()):
            if path not in reached:
                reached.add(path)
                waiting += _imports(path)
    return reached


@cache
def has_kernels(lesson: str) -> bool:
    """Does an answer of the lesson, or what is said about it, mention CUDA?"""
    course = current()
    return course.kind.word.encode() in zlib.decompress(course.packed(lesson).read_bytes())


@cache
def _modules(name: str) -> list[Path]:
    """The files that run when package.a.b is imported; a package itself only offers names."""
    parts = name.split(".")
    places = [CHECKOUT.joinpath(*parts[:length]) for length in range(2, len(parts) + 1)]
    paths = [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    return [path for path in paths if path.is_file()]


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """The modules of the package that a file imports anywhere in its text; names within them may be more."""
    names: list[str] = []
    for whole, module, several, one in IMPORT.findall(path.read_text(encoding="utf-8")):
        names += [whole] if whole else [f"{module}.{name}" for name in re.findall(r"\w+", several or one)]
    return tuple(name for name in names if name.partition(".")[0] in current().packages and "." in name)
