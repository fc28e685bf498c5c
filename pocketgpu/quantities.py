"""Numbers with their nouns, in messages."""


def quantity(number: int, noun: str) -> str:
    """A number and its noun: 1 launch, 2 launches, 3 sectors."""
    ending = "es" if noun.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{number:,} {noun}{ending if number != 1 else ''}"
