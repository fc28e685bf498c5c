"""The class key, and what is drawn from it: the seed of each submission, the variant of each student.

class.json holds the key's fingerprint: a key that was lost or exchanged stops grading before it changes a
mark. Only tokens travel to other machines, never the key.
"""

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from rnnlab.files import write_whole
from rnnlab.grading.notebook_file import Unusable

FORMAT = 1  # of class.json
KEY_BYTES = 32
SEED_BITS = 53  # the largest integers that every reader of JSON keeps


def settings(folder: Path) -> dict:
    """What class.json states; empty where there is none yet. Raises Unusable where it is damaged."""
    path = folder / "class.json"
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Unusable(f"{path} is damaged ({error}): bring it back from a copy.") from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise Unusable(f"{path} has another format than {FORMAT}: use the rnnlab that has written it.")
    return stated


def save_settings(folder: Path, stated: dict) -> None:
    """Write class.json, whole."""
    text = json.dumps({"format": FORMAT, **stated}, indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(folder / "class.json", f"{text}\n".encode())


def class_key(folder: Path, create: bool = False) -> bytes:
    """The class key [32 bytes]; with `create`, a new class gets one.

    Raises Unusable where the key is missing, damaged, or not the one that the class began with, and says what
    another key would change.
    """
    path, known = folder / "class.key", settings(folder).get("key")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        if known or not create:
            raise Unusable(f"{path} is missing. {_consequences(folder)}") from None
        return _new_key(folder)
    except ValueError:
        raise Unusable(f"{path} is damaged: it must hold {2 * KEY_BYTES} hexadecimal digits.") from None
    if len(key) != KEY_BYTES:
        raise Unusable(f"{path} holds {len(key)} bytes, a class key has {KEY_BYTES}. {_consequences(folder)}")
    if known is None:
        save_settings(folder, settings(folder) | {"key": fingerprint(key)})
    elif known != fingerprint(key):
        raise Unusable(f"{path} is not the key that this class began with. {_consequences(folder)}")
    return key


def accept_key(folder: Path) -> None:
    """Take the key that is in the folder, or a new one, from now on: seeds and variants become others."""
    stated = settings(folder)
    stated.pop("key", None)
    save_settings(folder, stated)
    class_key(folder, create=True)


def fingerprint(key: bytes) -> str:
    """Digits by which a key is recognised, and from which it cannot be computed."""
    return hashlib.sha256(b"rnnlab class key" + key).hexdigest()[:16]


def token(key: bytes, purpose: str, lesson: str, student: str, *more: str) -> str:
    """HMAC-SHA256 of the key for one purpose, lesson and student, as 64 hexadecimal digits."""
    words = [purpose, lesson, student, *more]
    message = json.dumps(words, ensure_ascii=True).encode()  # a list: no two lists run together
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def seed(key: bytes, lesson: str, attempt: int) -> int:
    """The seed of a lesson's attempts with this number, the same whenever and wherever they are graded.

    All students have the same inputs, and known mistakes are tried once for all of them. A later attempt has
    others: what a verdict shows of its inputs helps nobody.
    """
    words = token(key, "seed", lesson, "", str(attempt))
    return int(words, 16) >> (256 - SEED_BITS)


def _new_key(folder: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    path = folder / "class.key"
    write_whole(path, f"{key.hex()}\n".encode())
    os.chmod(path, 0o600)
    save_settings(folder, settings(folder) | {"key": fingerprint(key)})
    return key


def _consequences(folder: Path) -> str:
    """What another key would change, and the remedy."""
    count = sum(1 for _ in folder.glob("results/*/*.json"))
    lessons = settings(folder).get("variants") or []
    variants = f" and the variants that students of {', '.join(lessons)} were given" if lessons else ""
    return (
        f"Nothing was graded: another key changes the seeds of {count} results{variants}. Bring the key back "
        "from a copy, or accept the change with --accept-key."
    )
