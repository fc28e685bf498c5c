"""Runs what another submission has left in a file.

deserves: crashed
plain: passed, because a file outside its folder outlives its process
after: leaves_its_answer_in_a_file
"""

with open("@HOME@/left.py") as file:
    exec(file.read())
