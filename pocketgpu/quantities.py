"""Numbers with their nouns, in messages."""


def quantity(number: int, noun: str) -> str:
    """A number and its noun: 1 launch, 2 launches, 3 sectors."""
    if number == 1:
        return f"{number:,} {noun}"
    ending = "es" if noun.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{number:,} {noun}{ending}"
