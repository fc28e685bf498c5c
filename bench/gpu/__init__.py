"""Training steps on a GPU: the ladder's stages, PyTorch and cuDNN, right first, then timed in turns.

Read: contestant (the contract); ladder, persistent_layers, tensor_layers, cudnn (contestants; PyTorch is in
bench.peers); references, measure, child and children (a process a task), suites, record, report, command
(`rnnlab bench gpu`); probes and day (`rnnlab gpu-day`).
"""
