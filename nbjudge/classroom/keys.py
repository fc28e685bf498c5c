"""The class key, and what is drawn from it: the seed of each submission, the variant of each student.

class.json holds the key's fingerprint: a key that was lost or exchanged stops grading before it changes a
mark. Only tokens travel to other machines, never the key.
"""

import hashlib
import hmac
import json
import secrets
from pathlib import Path

from nbjudge.course import current
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable

FORMAT = 1  # of class.json
KEY_BYTES = 32
SEED_BITS = 53  # the largest integers that every reader of JSON keeps


def settings(folder: Path) -> dict:
    """What class.json states; empty before it is written. Raises Unusable where it is damaged."""
    path = folder / "class.json"
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
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


def save_settings(folder: Path, stated: dict) -> None:
    """Write class.json, whole."""
    text = json.dumps({"format": FORMAT, **stated}, indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(folder / "class.json", f"{text}\n".encode())


def class_key(folder: Path, create: bool = False) -> bytes:
    """The class key [32 bytes]; with `create`, a new class gets one.

    Raises Unusable where the key is missing, damaged, or not the one that the class began with, and says what
    another key would change; and where a class that has begun has lost class.json, which names that key.
    """
    path = folder / "class.key"
    known = settings(folder).get("key")
    key = _read_key(folder)
    if key is None:
        if known or not create:
            raise Unusable(f"{path} is missing. {_consequences(folder)}")
        return accept_key(folder)
    if known is None and (folder / "submissions.jsonl").exists():
        raise Unusable(
            f"{folder / 'class.json'} is missing or names no key, so nobody knows the key and the variants "
            "that this class began with. Nothing was graded: bring it back from a copy, or accept class.key "
            f"as it is, and no variants, with {current().command} class grade --accept-key."
        )
    if known is None:
        return accept_key(folder)
    if known != fingerprint(key):
        raise Unusable(f"{path} is not the key that this class began with. {_consequences(folder)}")
    return key


def accept_key(folder: Path) -> bytes:
    """The key in the folder, or a new one: it counts from now on, and seeds and variants become others.

    Raises Unusable where class.key is damaged.
    """
    key = _read_key(folder)
    if key is None:
        key = secrets.token_bytes(KEY_BYTES)
        write_whole(folder / "class.key", f"{key.hex()}\n".encode(), mode=0o600)
    stated = settings(folder)
    if stated.get("key") != fingerprint(key):
        save_settings(folder, stated | {"key": fingerprint(key)})
    return key


def _read_key(folder: Path) -> bytes | None:
    """The key in class.key; None if the file is missing. Raises Unusable where it is damaged."""
    path = folder / "class.key"
    try:
        key = bytes.fromhex(path.read_text(encoding="utf-8-sig"))  # an editor may have added the mark
    except FileNotFoundError:
        return None
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise Unusable(
            f"{path} is damaged: it must hold {2 * KEY_BYTES} hexadecimal digits. Bring it back from a copy, "
            "or remove it; grading then says what a new key would change."
        )
    return key


def is_exposed(folder: Path) -> bool:
    """Can other accounts of this machine read the class key?"""
    allows = lambda path, bits: bool(path.stat().st_mode & bits)
    return allows(folder, 0o011) and allows(folder / "class.key", 0o044)


def fingerprint(key: bytes) -> str:
    """Digits by which a key is recognised, and from which it cannot be computed."""
    return hashlib.sha256(f"{current().command} class key".encode() + key).hexdigest()[:16]


def token(key: bytes, purpose: str, lesson: str, student: str, *more: str) -> str:
    """HMAC-SHA256 of the key for one purpose, lesson and student, as 64 hexadecimal digits."""
    words = [purpose, lesson, student, *more]
    message = json.dumps(words, ensure_ascii=True).encode()  # a list: no two lists run together
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def seed(key: bytes, lesson: str, student: str, digest: str) -> int:
    """The seed of one file of one student, the same whenever and wherever it is graded.

    Another file has another one, and so has another student: what a page shows of its inputs helps nobody,
    neither the student who hands in again nor those whose deadline is still to come.
    """
    return int(token(key, "seed", lesson, student, digest), 16) >> (256 - SEED_BITS)


def _consequences(folder: Path) -> str:
    """What another key would change, and the remedy."""
    count = sum(1 for _ in folder.glob("results/*/*.json"))
    lessons = settings(folder).get("variants") or []
    variants = f" and the variants that students of {', '.join(lessons)} were given" if lessons else ""
    return (
        f"Nothing was graded: another key changes the seeds of {count} results{variants}. Bring the key back "
        "from a copy, or accept the change with --accept-key."
    )
