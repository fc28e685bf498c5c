"""Is a coroutine: nothing runs when it is called.

deserves: failed
"""


async def running_sum(x):
    return x
