"""Text of a submission, escaped for a terminal: nothing in it moves the cursor, hides text or reverses it.

A submission chooses its messages, names, source lines and file names. Raw, an escape sequence among them
could erase a verdict on the screen and write another in its place.
"""

import re
import unicodedata

LONGEST = 2000  # characters of one message
MOST_LINES = 40
REFUSED = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, format and bidi, surrogates, separators
JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")  # Persian and Hindi names have them


def printable(text: object, longest: int = LONGEST) -> str:
    """The text with every character that is not a sign or space written as its escape, and cut if too long.

    Newlines, tabs, and joiners between letters that are not ASCII stay. What was cut ends in `…`.
    """
    lines = str(text)[: longest + 1].split("\n")
    shown = "\n".join(_shown_line(line) for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES or len(shown) > longest:
        return shown[: longest - 1] + "…"
    return shown


def quantity(number: int, noun: str) -> str:
    """A number and its noun: 1 point, 2 points, 0 launches."""
    ending = "es" if noun.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{number} {noun}{ending if number != 1 else ''}"


def _shown_line(line: str) -> str:
    joiners = {match.start() for match in JOINED.finditer(line)}
    return "".join(c if place in joiners else _shown(c) for place, c in enumerate(line))


def _shown(character: str) -> str:
    if character == "\t" or unicodedata.category(character) not in REFUSED:
        return character
    return character.encode("unicode_escape").decode()
