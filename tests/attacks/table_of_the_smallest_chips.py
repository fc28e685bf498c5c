"""Answers every question about a chip with yes.

exercise: fits_on_chip
deserves: failed
"""


def fits_on_chip(*sizes, **limits):
    return True
