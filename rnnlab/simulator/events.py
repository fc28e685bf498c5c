"""What a watched launch writes down: one tuple for everything a thread does to memory or waits for.

    (kind, thread, code, instruction, array, detail)

thread counts through the grid, block after block.  code and instruction (f_lasti) are the place in the
program, from which the line follows.  For a load, a store or an atomic, array is the one that was indexed and
detail the index; for a fence its scope; for a barrier how often it has opened before; for warps the mask.
"""

LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE = range(5)
FENCE, BARRIER, WARP_SYNC, GRID_SYNC = range(5, 9)
MEMORY = (LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE)

GLOBAL, SHARED, LOCAL, CONSTANT = "global", "shared", "local", "constant"
BLOCK, DEVICE, SYSTEM = "block", "device", "system"  # how far a fence reaches
