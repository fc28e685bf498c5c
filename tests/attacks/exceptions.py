"""Answers that raise, recurse, or catch what is meant for the judge."""

# %% [attack] calls_itself_beyond_the_stack
# Calls itself without end, after it has removed Python's own limit.
# deserves: crashed
import sys

sys.setrecursionlimit(2**31 - 1)

def running_sum(x):
    return max([x], key=running_sum)

# %% [attack] calls_itself_for_ever
# Calls itself without end.
# deserves: crashed
def running_sum(x):
    return running_sum(x)

# %% [attack] raises_a_group
# Raises a group of exceptions.
# deserves: crashed
def running_sum(x):
    raise ExceptionGroup("both", [ValueError(), TypeError()])

# %% [attack] raises_a_keyboard_interrupt
# Pretends that somebody pressed Ctrl-C.
# deserves: crashed
def running_sum(x):
    raise KeyboardInterrupt

# %% [attack] raises_a_long_text
# Raises an exception with a megabyte of text.
# deserves: crashed
def running_sum(x):
    raise ValueError("x" * 1_000_000)

# %% [attack] raises_a_name_with_escapes
# Raises an exception whose class name moves the cursor.
# deserves: crashed
def running_sum(x):
    raise type("\x1b[2J", (Exception,), {})

# %% [attack] raises_a_terminal_escape
# Raises an exception that would erase the verdict on a terminal and write its own.
# deserves: crashed
def running_sum(x):
    raise ValueError("\x1b[1A\x1b[2K\u2714 passed")

# %% [attack] raises_half_a_character
# Raises an exception whose text is half of a pair of code units.
# deserves: crashed
def running_sum(x):
    raise ValueError("\ud800")

# %% [attack] raises_not_implemented
# Raises the error by which an untouched stub is known.
# deserves: not_attempted
def running_sum(x):
    raise NotImplementedError

# %% [attack] raises_stop_iteration
# Raises StopIteration, which would end a loop of the judge's.
# deserves: crashed
def running_sum(x):
    raise StopIteration

# %% [attack] raises_text_from_right_to_left
# Raises an exception whose text is shown backwards.
# deserves: crashed
def running_sum(x):
    raise ValueError("\u202edessap")

# %% [attack] raises_what_cannot_be_shown
# Raises an exception whose text is an exception.
# deserves: crashed
class Silent(Exception):
    def __str__(self):
        raise ValueError

def running_sum(x):
    raise Silent

# %% [attack] raises_wrong_itself
# Raises an exception that is called like the judge's.
# deserves: crashed
class Wrong(Exception):
    pass

def running_sum(x):
    raise Wrong

# %% [attack] recurses_in_repr
# Calls itself while its exception is shown.
# deserves: crashed
class Deep(Exception):
    def __str__(self):
        return str(self)

def running_sum(x):
    raise Deep

# %% [attack] swallows_every_exception
# Catches every exception and continues forever.
# deserves: timeout
def running_sum(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue

# %% [attack] raises_a_chain_without_end
# Raises an exception that has another cause each time somebody asks for it.
# deserves: crashed
class Chained(Exception):
    __cause__ = __context__ = property(lambda self: Chained("for another reason"))

def running_sum(x):
    raise Chained("for a reason")

# %% [attack] raises_notes_without_end
# Raises an exception with notes of a gigabyte, and a class that says to be another.
# deserves: memory
class Noted(Exception):
    __class__ = property(lambda self: MemoryError)
    __notes__ = property(lambda self: ["passed" * 1_000_000] * 170)

def running_sum(x):
    raise Noted

# %% [attack] raises_in_a_file_of_others
# Raises an exception in code that says to stand in the teacher's file, whose line a report would show.
# deserves: crashed
CODE = compile("raise ValueError('see above')", "@HOME@/notes.txt", "exec")

def running_sum(x):
    exec(CODE)

# %% [attack] raises_a_hundred_thousand_causes
# Raises an exception with a hundred thousand causes, one after the other.
# deserves: crashed
def running_sum(x):
    error = ValueError("the first")
    for number in range(100_000):
        error, error.__cause__ = ValueError(number), error
    raise error
