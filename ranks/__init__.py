"""ranks: programs of MPI-like ranks, real or in simulated time, and all-reduce schedules as data.

README.md lists the modules.  The real ranks need mpi4py and Open MPI.
"""
