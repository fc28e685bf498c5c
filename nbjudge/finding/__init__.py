"""Find an answer in a notebook, with every statement that it depends on.

notebook_file reads a file, reading its cells (without what magics knows as IPython's), effects and history one
statement, check_calls and needs all of them. notebook.Notebook answers from these; nothing else is asked from outside.
"""
