"""Build lessons, exercises and solutions from the texts that an author writes."""
