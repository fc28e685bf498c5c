"""Refusals of a command, and the command lines that mend what is missing."""

from nbjudge.remedies import command_line, pip_install

__all__ = "Refusal", "command_line", "pip_install"


class Refusal(Exception):
    """Says in a sentence why and what to do; `rnnlab` prints it and ends with status 2."""
