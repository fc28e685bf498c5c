"""A plan on a real GPU: buffers, streams, events, products of cuBLAS, launches.  CuPy loads when used."""
