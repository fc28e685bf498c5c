"""What a download holds, read without trusting it: a folder, a zip, and zips that students handed in.

Nothing is ever unpacked under a name from an archive. Sizes are held against limits before and while a file
is read, so that no bomb fills memory or disk; links are never followed.
"""

import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from nbjudge.finding.notebook_file import LARGEST, Unusable

MOST_FILES = 100_000  # of a download: 5,000 students with a score of files each
MOST_INSIDE = 200  # files of a zip that a student handed in
DEEPEST = 2  # zips within one another of which each holds the next one alone; what lies deeper stays closed
LARGEST_RATIO = 400  # of expanded to packed bytes, for files above SMALL; notebooks reach 30
SMALL = 8 << 20  # bytes
NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?\s*$", re.I)  # some browsers append .txt or .json
UNOPENED = {".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst"}
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others may expand a few bytes to gigabytes at once
NOISE = {"__MACOSX", ".ipynb_checkpoints", ".git", "__pycache__", ".DS_Store", "Thumbs.db", "desktop.ini"}
NOISE |= {".jupyter", ".origins.json"}  # of work/, beside the answers
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True)
class DownloadedFile:
    """One file of a download. `problem` is a sentence where it cannot be read."""

    path: str  # within the download, in Unicode form NFC, parts joined by /
    read: Callable[[], bytes]  # raises Unusable where the content breaks a limit
    when: str | None = None  # ISO 8601
    problem: str | None = None
    size: int = 0  # bytes, as its archive or folder states them
    uncertain: bool = False  # nothing states the encoding of its path

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix.lower()

    @property
    def is_notebook(self) -> bool:
        return bool(NOTEBOOK.search(self.path))


def entries(source: Path) -> Iterator[DownloadedFile]:
    """The files of a folder or zip, by path; system files of desktops are left out.

    Raises Unusable where it is neither, or cannot be read at all.
    """
    if not os.path.lexists(source):
        raise Unusable(f"{source} does not exist.")
    try:
        listed = _of_folder(source) if source.is_dir() else _of_download(source)
    except OSError as error:
        raise Unusable(
            f"{error.filename} cannot be read ({error.strerror}): allow it, and try again."
        ) from None
    for entry in sorted(listed, key=lambda entry: entry.path):
        if not _is_noise(entry.path):
            yield from _with_inner(entry)


def _with_inner(entry: DownloadedFile, depth: int = 1) -> Iterator[DownloadedFile]:
    """The entry, or what is in it where it is a zip. A zip beside other files in it stays closed."""
    if entry.suffix != ".zip" or entry.problem:
        yield entry
        return
    try:
        content = BytesIO(entry.read())
        inner = _of_zip(content, "it", MOST_INSIDE)
        if (size := sum(part.size for part in inner if part.is_notebook)) > LARGEST:
            raise Unusable(f"its notebooks have {size >> 20} MiB together: hand in one notebook")
    except Unusable as unusable:
        yield replace(entry, problem=str(unusable))
        return
    if not inner:
        yield replace(entry, problem="it is a zip without files: hand in the notebook")
    is_wrapping = depth < DEEPEST and len(inner) == 1
    for part in inner:
        path = f"{entry.path}/{part.path}"  # its time is that of the zip: a student sets those within
        own = replace(entry, path=path, read=part.read, problem=part.problem)
        if part.suffix != ".zip" or part.problem:
            yield own
        elif is_wrapping:
            yield from _with_inner(own, depth + 1)
        else:
            yield replace(own, problem="it is a zip within a zip: hand in the notebook")


def _is_noise(path: str) -> bool:
    parts = path.split("/")
    return bool(NOISE & {*parts}) or parts[-1].startswith("._")


def _of_download(source: Path) -> list[DownloadedFile]:
    """The files of the zip that a teacher has loaded."""
    if not source.is_file():  # opening a pipe would wait for somebody who writes
        raise Unusable(f"{source} is not a regular file: name a zip or a folder.")
    with open(source, "rb") as file:  # is_zipfile takes what it may not read for no zip
        if zipfile.is_zipfile(file):
            return _of_zip(source, str(source), MOST_FILES)
    if source.suffix.lower() == ".zip":
        raise Unusable(f"{source} is not a zip, or the download was cut off: load it again.")
    raise Unusable(
        f"{source} is neither a folder nor a zip: wait for the end of the download, or unpack it and name "
        "the folder."
    )


def _of_folder(folder: Path) -> list[DownloadedFile]:
    """The files below a folder; links are listed and not followed."""
    listed = []
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as scan:
                items = [item for item in scan if not _is_noise(item.name)]
        except OSError as error:
            if place == folder:
                raise
            listed.append(_unreadable(folder, place, error))
            continue
        for item in items:
            if item.is_dir(follow_symlinks=False):
                waiting.append(Path(item.path))
            else:
                listed.append(_of_file(folder, Path(item.path)))
        if len(listed) > MOST_FILES:
            raise Unusable(f"{folder} holds more than {MOST_FILES:,} files: is it the folder of one class?")
    return listed


def _of_file(folder: Path, path: Path) -> DownloadedFile:
    try:
        state = path.lstat()
    except OSError as error:
        return _unreadable(folder, path, error)
    problem = None
    if stat.S_ISLNK(state.st_mode):
        problem = "it is a link, which is not followed: hand in the file itself"
    elif not stat.S_ISREG(state.st_mode):
        problem = "it is not a regular file"
    elif state.st_size > LARGEST:
        problem = _too_large(state.st_size)
    when = None
    with suppress(ValueError, OverflowError):  # a clock that was set to the year 30,000
        when = datetime.fromtimestamp(state.st_mtime, UTC).isoformat(timespec="seconds")
    return DownloadedFile(_name(folder, path), lambda: _read_file(path), when, problem, state.st_size)


def _unreadable(folder: Path, path: Path, error: OSError) -> DownloadedFile:
    problem = f"it cannot be read ({error.strerror}): allow it, and collect again"
    return DownloadedFile(_name(folder, path), lambda: b"", problem=problem)


def _name(folder: Path, path: Path) -> str:
    name = os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace")
    return unicodedata.normalize("NFC", name)


def _read_file(path: Path) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return _content(file)
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror}): allow it, and collect again") from None


def _of_zip(file: Path | BytesIO, name: str, most: int) -> list[DownloadedFile]:
    """The files of a zip."""
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGE as error:
        raise Unusable(f"{name} is not a zip that can be read ({error}): load or pack it again.") from None
    listed = [_of_member(archive, member) for member in archive.infolist() if not member.is_dir()]
    listed = [entry for entry in listed if not _is_noise(entry.path)]
    if len(listed) > most:
        raise Unusable(
            f"{name} holds {len(listed):,} files, above the limit of {most:,}: pack the notebooks alone."
        )
    return listed


def _of_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> DownloadedFile:
    path, uncertain = _member_path(member)
    when = None
    with suppress(ValueError):
        when = datetime(*member.date_time).isoformat()
    return DownloadedFile(
        path, lambda: _read_member(archive, member), when, _problem(member, path), member.file_size, uncertain
    )


def _member_path(member: zipfile.ZipInfo) -> tuple[str, bool]:
    """The path in NFC, and whether its encoding is uncertain.

    UTF-8 without a mark is recognised; zipfile reads all else that has none as code page 437.
    """
    name = member.filename
    uncertain = False
    if not member.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            uncertain = True
    name = name.replace("\\", "/")
    while name.startswith("./"):
        name = name[2:]
    return unicodedata.normalize("NFC", name), uncertain


def _problem(member: zipfile.ZipInfo, path: str) -> str | None:
    """Why a member is not read, if it is not."""
    parts = path.split("/")
    if ".." in parts or path.startswith("/") or path[1:2] == ":":
        return "its path leads out of the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "it is a link, which is not followed: hand in the file itself"
    if member.flag_bits & 1:
        return "it is locked with a password: hand it in without one"
    if member.compress_type not in METHODS:
        return "it is packed by an unusual method: pack it again as an ordinary zip"
    if member.file_size > LARGEST:
        return _too_large(member.file_size)
    if member.file_size > SMALL and member.file_size > LARGEST_RATIO * max(member.compress_size, 1):
        ratio = member.file_size / max(member.compress_size, 1)
        return f"it expands to {ratio:,.0f} times its size, as no notebook does"
    return None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content, which may be larger than the archive states."""
    try:
        with archive.open(member) as file:
            return _content(file)
    except DAMAGE as error:
        raise Unusable(f"it is damaged in the archive ({error}): load or pack it again") from None


def _content(file: BinaryIO) -> bytes:
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unusable(_too_large(len(content)))
    return content


def _too_large(size: int) -> str:
    limit = LARGEST >> 20
    return f"it has {size >> 20} MiB, above the limit of {limit} MiB: clear its outputs and save it again"
