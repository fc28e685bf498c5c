"""A message is held by its values: names, numbers, shapes. A test of them outlives another wording."""

import re

WHOLE = r"(?<![\w.]){}(?!\.?\d|\w)"  # a number or word that begins and ends there


def holds(text, *values):
    """Whether the values stand in the text in this order, each as a whole number or word."""
    return re.search(".*".join(WHOLE.format(re.escape(value)) for value in values), text, re.S) is not None
