"""Pictures of tasks and of runs: the course's package draws them, and is loaded when one is drawn."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a rank that trains draws nothing, and its start would wait half a second for this
    from matplotlib.figure import Figure

PICTURES = "rnncourse.views.pictures"


def drawn(picture: str, *arguments: object, **options: object) -> "Figure":
    """The picture of that name, a function of PICTURES, of what it is given."""
    return getattr(import_module(PICTURES), picture)(*arguments, **options)
