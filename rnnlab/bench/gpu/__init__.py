"""Training steps on a GPU: the ladder's stages, PyTorch and cuDNN, right first, then timed in turns.

Read: workload (what is measured), ladder, persistent_layers, torch_layers and cudnn (who), measure (how),
report (what is told), command (`rnnlab bench gpu`).
"""
