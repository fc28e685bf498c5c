"""Odd results: other types, shapes, orders of bytes, objects that lie."""

import numpy as np

# %% [attack] changes_its_input
# Sets its input to zero, of which zero is the right sum.
def running_sum(x):
    x[:] = 0
    return x

# %% [attack] changes_its_input_and_is_right
# Is right, and leaves other numbers in its input.
def running_sum(x):
    np.cumsum(x, axis=0, out=x)
    return x

# %% [attack] has_no_function
# Is a number, not a function.
# deserves: crashed
running_sum = 3

# %% [attack] is_a_class
# Is a class whose instances look like numbers.
class running_sum(float):
    def __new__(cls, x):
        return float.__new__(cls, 0)

# %% [attack] is_a_coroutine
# Is a coroutine: nothing runs when it is called.
async def running_sum(x):
    return x

# %% [attack] returns_a_deep_list
# Returns lists nested ten thousand deep.
# deserves: too_big
def running_sum(x):
    result = x
    for _ in range(10_000):
        result = [result]
    return result

# %% [attack] returns_a_dictionary_with_strange_keys
# Returns a dictionary whose key cannot be written as text.
def running_sum(x):
    return {"\ud800": x}

# %% [attack] returns_a_generator
# Returns a generator that has computed nothing yet.
def running_sum(x):
    return (row for row in np.cumsum(x, axis=0))

# %% [attack] returns_a_huge_integer
# Returns an integer of a million bits.
# deserves: too_big
def running_sum(x):
    return 1 << 1_000_000

# %% [attack] returns_a_lazy_array
# Returns an object that works out its numbers when somebody looks at it.
class Lazy:
    """Becomes an array when it is asked to."""

    def __init__(self, x):
        self.x, self.shape, self.dtype = x, x.shape, x.dtype

    def __array__(self, dtype=None, copy=None):
        return np.cumsum(self.x, axis=0)

def running_sum(x):
    return Lazy(x)

# %% [attack] returns_a_list_that_lies
# Returns a list whose elements change each time they are read.
class Rows(list):
    def __getitem__(self, index):
        return list.__getitem__(self, 0)

def running_sum(x):
    return Rows(x * 0)

# %% [attack] returns_a_lying_array
# Returns an array of its own class, equal to whatever it is compared with.
class Lying(np.ndarray):
    """Says yes to everything."""

    __hash__ = None

    def __eq__(self, other):
        return np.ones(self.shape, dtype=bool)

    def __sub__(self, other):
        return np.zeros(self.shape)

    __rsub__ = __sub__

def running_sum(x):
    return np.zeros(x.shape).view(Lying)

# %% [attack] returns_a_masked_array
# Returns the right numbers behind a mask that hides them.
def running_sum(x):
    return np.ma.masked_all(x.shape)

# %% [attack] returns_a_matrix
# Returns a matrix, whose products are not an array's.
def running_sum(x):
    return np.asmatrix(np.cumsum(x, axis=0))

# %% [attack] returns_a_number_that_lies
# Returns a float of its own class, equal to every number.
class Number(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__

def running_sum(x):
    return Number(0)

# %% [attack] returns_a_pickle_bomb
# Returns an object that runs a program in whoever unpickles it.
import os

class Bomb:
    """Its pickle is a command."""

    def __reduce__(self):
        return os.system, ("touch @HOME@/unpickled",)

def running_sum(x):
    return Bomb()

# %% [attack] returns_a_read_only_array
# Is right, and forbids to write into its result.
# deserves: passed
def running_sum(x):
    result = np.cumsum(x, axis=0)
    result.flags.writeable = False
    return result

# %% [attack] returns_a_strided_view
# Is right, with every second number of a larger array.
# deserves: passed
def running_sum(x):
    result = np.zeros((len(x), 2 * x.shape[1]))
    result[:, ::2] = np.cumsum(x, axis=0)
    return result[:, ::2]

# %% [attack] returns_a_type
# Returns a class instead of numbers.
def running_sum(x):
    return type(x)

# %% [attack] returns_a_view_of_its_input
# Returns its input, unchanged.
def running_sum(x):
    return x

# %% [attack] returns_an_array_of_objects
# Returns an array whose elements compare as they like.
class Close:
    """A number that is not a distance from any other."""

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__

def running_sum(x):
    return np.full(x.shape, Close(), dtype=object)

# %% [attack] returns_an_open_file
# Returns an open file.
def running_sum(x):
    return open("/dev/null")

# %% [attack] returns_big_endian_numbers
# Is right, in the other byte order.
def running_sum(x):
    return np.cumsum(x, axis=0).astype(">f8")

# %% [attack] returns_complex_numbers
# Returns complex numbers with an imaginary part of zero.
def running_sum(x):
    return np.cumsum(x, axis=0) + 0j

# %% [attack] returns_dates
# Returns dates in place of numbers.
def running_sum(x):
    return np.zeros(x.shape, dtype="datetime64[s]")

# %% [attack] returns_fortran_order
# Is right, column after column in memory.
# deserves: passed
def running_sum(x):
    return np.asfortranarray(np.cumsum(x, axis=0))

# %% [attack] returns_from_a_generator
# Is a generator: nothing runs when it is called.
def running_sum(x):
    yield x

# %% [attack] returns_half_precision
# Returns the right numbers, rounded to 16 bits.
def running_sum(x):
    return np.cumsum(x, axis=0).astype(np.float16)

# %% [attack] returns_infinity
# Returns numbers beyond all tolerance.
def running_sum(x):
    return np.full(x.shape, np.inf)

# %% [attack] returns_itself
# Returns a list that holds itself.
# deserves: too_big
def running_sum(x):
    result = []
    result.append(result)
    return result

# %% [attack] returns_keys_with_escapes
# Returns a dictionary whose keys move the cursor.
def running_sum(x):
    return {"\x1b[2A\x1b[Kpassed": x}

# %% [attack] returns_many_small_parts
# Returns a million separate numbers in a list.
# deserves: too_big
def running_sum(x):
    return [0.0] * 1_000_000

# %% [attack] returns_nan
# Returns what is neither equal nor unequal to anything.
def running_sum(x):
    return np.full(x.shape, np.nan)

# %% [attack] returns_nothing
# Returns nothing, which the check of this exercise does not expect and breaks on.
def running_sum(x):
    return None

# %% [attack] returns_records
# Returns a structured array.
def running_sum(x):
    return np.zeros(x.shape, dtype=[("a", float)])

# %% [attack] returns_text
# Returns the numbers as text.
def running_sum(x):
    return np.cumsum(x, axis=0).astype(str)

# %% [attack] returns_the_function
# Returns itself.
def running_sum(x):
    return running_sum

# %% [attack] returns_too_much
# Returns eighty megabytes where a few numbers are expected.
# deserves: too_big
def running_sum(x):
    return np.zeros(10_000_000)

# %% [attack] returns_what_equals_everything
# Returns an object that equals everything.
class Equal:
    """Equal to whatever it is compared with."""

    __hash__ = None

    def __eq__(self, other):
        return True

def running_sum(x):
    return Equal()

# %% [attack] takes_no_argument
# Is a function that takes no argument.
# deserves: crashed
def running_sum():
    return 0
