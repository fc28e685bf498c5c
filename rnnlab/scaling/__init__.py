"""Scaling out: data-parallel training on many ranks, real and simulated, and a model of what it costs.

Real ranks, in the order of reading (the extra `scale`: mpi4py and Open MPI):
  all_reduce   a ring all-reduce and the average of gradients, written out
  overlap      back-propagation layer by layer, so that a complete gradient can be sent; how much was hidden
  sums, nccl   sums over all ranks in the background: by MPI, or by NCCL between GPUs
  team, train  one rank's part of a step; the training loop and its checkpoints
  survive      what the others do when a rank is lost: MPI's fault tolerance
  settings, launch, rank, faults, run, call, commands: ranks are started, watched and ended
Model and simulated ranks:
  costs, model, published, simulated_ranks and their kin
"""
