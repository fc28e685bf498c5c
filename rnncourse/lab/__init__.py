"""What this computer can do: the doctor, the BLAS NumPy multiplies with, its two roofs, and `rnnlab lab`."""
