"""What of a notebook a person wrote: its cells, without outputs, counters and what programs leave in it."""

import hashlib
import json


def written(content: bytes) -> str:
    """A number for the kinds and texts of all cells: the same for two notebooks that differ by runs only.

    What is no notebook has the number of its bytes.
    """
    try:
        cells = [[cell["cell_type"], _text(cell["source"])] for cell in json.loads(content)["cells"]]
    except (ValueError, KeyError, TypeError):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
