"""ranks: programs of MPI-like ranks, real or in simulated time, and all-reduce schedules as data.

From the ground up; a module imports those before it:
  cores                cores that this process may use
  costs                what a message costs: latency and bandwidth of a link
  sums                 sums over all ranks in the background
  all_reduce           a ring all-reduce and the average of arrays, written out
  simulated_transfers  schedules of transfers as data, and the time that they take
  simulated_world      ranks as coroutines in simulated time; simulated_ranks runs a program on them
  faults               which rank is where, and which one was lost
  rank, launch, call   what a rank runs; ranks are started, watched and ended; one function on all of them

The real ranks need mpi4py and Open MPI.
"""
