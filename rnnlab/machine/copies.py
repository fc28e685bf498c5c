"""A learner's own copies of the exercises, in work/: made once, never overwritten."""

import errno
from pathlib import Path

from rnnlab.files import write_whole

ROOT = Path(__file__).resolve().parents[2]


def copy_exercises(root: Path = ROOT) -> list[Path]:
    """New copies, in work/, of the exercises that have none there yet; what stands there is never touched."""
    if not (root / "exercises").is_dir():
        raise FileNotFoundError(f"{root} holds no exercises/: run rnnlab in a clone of the course")
    copies = []
    for source in sorted(root.glob("exercises/*.ipynb")):
        target = root / "work" / source.name
        if not target.exists():
            _copy(source, target)
            copies.append(target)
    return copies


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        write_whole(target, source.read_bytes())  # a half copy would never be made good
    except OSError as error:
        remedy = "free some space" if error.errno == errno.ENOSPC else f"make {target.parent} writable"
        message = f"cannot make your copy {target} ({error.strerror}): {remedy}, then start again"
        raise type(error)(error.errno, message) from None
