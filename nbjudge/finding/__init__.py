"""Find an answer in a notebook, with every statement that it depends on."""
