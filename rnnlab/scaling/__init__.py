"""Scaling out: data-parallel training on many ranks, real and simulated (package ranks).

In the order of reading (real ranks need the extra `scale`: mpi4py and Open MPI):
  overlap      back-propagation layer by layer, so that a complete gradient can be sent; how much was hidden
  team, train  one rank's part of a step; the training loop and its checkpoints
  survive      what the others do when a rank is lost: MPI's fault tolerance
  settings     a run as plain data; run: on real ranks; simulated_training: in simulated time
"""
