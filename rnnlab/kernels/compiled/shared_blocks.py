"""Blocks of a step's products, shared among threads that wait for the next job in a loop.

To wake a thread takes some 40 µs, longer than most steps.  So a helper, once awake, reads a counter until no
job has come for SPINS reads, and a job starts in less than a microsecond.  Each thread has a range of blocks,
the same in each step, so that they stay in its own core's caches; it claims one after the other, and then
what is left of the others' ranges.  A helper that is asleep, late, or without a core costs nothing: whoever
is there computes all blocks.  Ranges are passed through forward and backward in turns: what a cache has kept
of the last step is read first, and not pushed out by what comes before it.

A member's counter of claims is the job's number << SHIFT, plus the blocks of its range that are claimed.  A
helper that comes late holds the number of an old job, all of whose blocks are claimed, and claims nothing of
a new one.  While a job is written its number is odd.
"""

from numba import njit

from rnnlab.kernels.compiled.narrow import BLOCKS, IS_BACKWARD, JOB, MEMBERS, multiply_block
from rnnlab.kernels.compiled.rows import OPTIONS
from rnnlab.kernels.packed.barrier import add, pause, read, replace, wait_for

SPINS = 8000  # reads by a helper that waits, about 100 µs with a pause between two
SHIFT = 24  # bits for the blocks of a range
APART = 16  # counters that lie in cache lines of their own, also where lines are fetched by pairs
# counters behind the job: its number; blocks done in all jobs; claims of each member
NUMBER, DONE, CLAIMS = range(JOB + APART, JOB + 4 * APART, APART)
AWAKE = 1  # behind a member's claims: 1 as long as a helper serves


def size(members: int) -> int:
    """Numbers of a job and its counters."""
    return CLAIMS + members * APART


@njit(**OPTIONS)
def begin(job):
    """Begin to write a job; the last one has ended."""
    add(job, NUMBER, 1)


@njit(**OPTIONS)
def compute(job):
    """Compute all blocks of the job that was written, in this thread and in those that serve."""
    number = read(job, NUMBER) + 1
    goal = read(job, DONE) + job[BLOCKS]
    for member in range(job[MEMBERS]):
        at = CLAIMS + member * APART
        add(job, at, (number << SHIFT) - read(job, at))
    add(job, NUMBER, 1)
    _claim_blocks(job, 0, number, job[MEMBERS], job[BLOCKS])
    wait_for(job, DONE, goal)


@njit(**OPTIONS)
def serve(job, member):
    """Compute blocks of each job that comes, until none has come for SPINS reads."""
    last = 0
    spins = 0
    while spins < SPINS:
        number = read(job, NUMBER)
        if number == last or number % 2:
            pause()
            spins += 1
        else:
            members = job[MEMBERS]
            blocks = job[BLOCKS]
            if add(job, NUMBER, 0) == number:
                _claim_blocks(job, member, number, members, blocks)
                last = number
                spins = 0
    add(job, CLAIMS + member * APART + AWAKE, -1)


@njit(**OPTIONS)
def _claim_blocks(job, member, number, members, blocks):
    """Compute blocks of this job until all are claimed."""
    done = 0
    for distance in range(members):
        owner = (member + distance) % members
        low = blocks * owner // members
        high = blocks * (owner + 1) // members
        at = CLAIMS + owner * APART
        while True:
            claims = read(job, at)
            k = claims - (number << SHIFT)
            if k < 0 or k >= high - low:
                break
            if replace(job, at, claims, claims + 1):
                multiply_block(job, high - 1 - k if job[IS_BACKWARD] else low + k)
                done += 1
    add(job, DONE, done)
