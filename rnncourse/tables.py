"""Tables of plain data, as TOML beside the modules that explain them."""

import tomllib
from pathlib import Path


def read_table(module: str) -> dict:
    """Contents of NAME.toml beside NAME.py, a module's __file__."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
