"""What of a notebook a person wrote: its cells, without outputs, counters and what programs leave in it."""

import hashlib
import json
from pathlib import Path

from nbjudge.files import write_whole


def content_hash(content: bytes) -> str:
    """Hash of the kinds and texts of all cells: equal for two notebooks that differ by runs only.

    The hash of its bytes, if the content is no notebook.
    """
    try:
        cells = [[cell["cell_type"], _text(cell["source"])] for cell in json.loads(content)["cells"]]
    except (ValueError, KeyError, TypeError):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def set_aside(course: Path, name: str) -> str:
    """Copy a notebook to work/before_update/ of its course, under a free name; the copy's path from there."""
    number = 1
    copy = course / "work/before_update" / name
    while copy.exists():
        number += 1
        copy = copy.with_stem(f"{Path(name).stem}-{number}")
    copy.parent.mkdir(parents=True, exist_ok=True)
    write_whole(copy, (course / name).read_bytes())
    return copy.relative_to(course).as_posix()


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
