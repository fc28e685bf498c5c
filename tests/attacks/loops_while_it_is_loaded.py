"""Never comes to an end while its cell is loaded.

deserves: timeout
"""

while True:
    pass
