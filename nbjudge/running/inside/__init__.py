"""What a learner's process may see of the course: how values travel, and the loop that calls the answer.
NumPy only."""
