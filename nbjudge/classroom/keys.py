"""The class key, and what is drawn from it: the seed of each submission, the variant of each student.

class.json holds the key and the lessons with variants. A class that has begun and lost it is not graded.
Only tokens travel to other machines, never the key.
"""

import hashlib
import hmac
import json
import secrets
from pathlib import Path

from nbjudge.course import current
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable

FORMAT = 2  # of class.json
KEY_BYTES = 32
SEED_BITS = 53  # the largest integers that every reader of JSON keeps


def settings(folder: Path) -> dict:
    """What class.json states; empty before it is written. Raises Unusable where it is damaged."""
    path = folder / "class.json"
    try:
        stated = json.loads(path.read_text(encoding="utf-8-sig"))  # an editor may have added the mark
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Unusable(f"{path} is damaged ({error}): bring it back from a copy.") from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise Unusable(f"{path} has another format than {FORMAT}: use the version that wrote it.")
    lessons = stated.get("variants", [])
    if not isinstance(lessons, list) or not {*current().lessons}.issuperset(map(str, lessons)):
        raise Unusable(f"{path} is damaged (variants: {lessons}): bring it back from a copy.")
    return stated


def varied(folder: Path) -> list[str]:
    """The lessons with variants."""
    return settings(folder).get("variants", [])


def save_settings(folder: Path, stated: dict) -> None:
    """Write class.json, whole, for this user alone."""
    text = json.dumps({"format": FORMAT, **stated}, indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(folder / "class.json", f"{text}\n".encode(), mode=0o600)


def class_key(folder: Path, create: bool = False) -> bytes:
    """The class key [32 bytes]; with `create`, a new class gets one.

    Raises Unusable where it is missing or damaged, and says what another key would change.
    """
    path = folder / "class.json"
    stated = settings(folder)
    if create and "key" not in stated and not (folder / "submissions.jsonl").exists():
        stated["key"] = secrets.token_hex(KEY_BYTES)
        save_settings(folder, stated)
    try:
        key = bytes.fromhex(stated.get("key", ""))
    except (ValueError, TypeError):
        key = b""
    if len(key) != KEY_BYTES:
        count = sum(1 for _ in folder.glob("results/*/*.json"))
        raise Unusable(
            f"{path} is missing, or its key is not {2 * KEY_BYTES} hexadecimal digits. Nothing was done: "
            f"another key changes the seeds of {count} results, and variants that students were given. Bring "
            "it back from a copy, or collect into a new class folder."
        )
    return key


def is_exposed(folder: Path) -> bool:
    """Can other accounts of this machine read the class key?"""
    allows = lambda path, bits: bool(path.stat().st_mode & bits)
    return allows(folder, 0o011) and allows(folder / "class.json", 0o044)


def token(key: bytes, purpose: str, lesson: str, student: str, *more: str) -> str:
    """HMAC-SHA256 of the key for one purpose, lesson and student, as 64 hexadecimal digits."""
    parts = [purpose, lesson, student, *more]
    message = json.dumps(parts, ensure_ascii=True).encode()  # a list: no two lists run together
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def seed(key: bytes, lesson: str, student: str, digest: str) -> int:
    """The seed of one file of one student, the same whenever and wherever it is graded.

    Another file has another one, and so has another student: what a page shows of its inputs helps nobody,
    neither the student who hands in again nor those whose deadline is still to come.
    """
    return int(token(key, "seed", lesson, student, digest), 16) >> (256 - SEED_BITS)
