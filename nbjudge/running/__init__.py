"""Run an answer in a process of its own, within limits."""
