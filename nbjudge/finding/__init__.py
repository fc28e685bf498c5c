"""Find an answer in a notebook, with every statement that it depends on.

notebook_file reads a file and reading its cells, without what magics knows as IPython's; effects and history
say what one statement does, check_calls and needs what all of them do together. notebook.Notebook answers
from these, and others ask it alone.
"""
