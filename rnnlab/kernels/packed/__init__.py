"""Packed products: matrix products of a recurrent step's size at the rate of large ones, written in Python.

Words.  A *panel* is `width` neighbouring columns of a matrix [K,N], copied to where they lie row after row,
[K,width] without gaps; a packed matrix is [⌈N/width⌉,K,width], filled up with zeros.  A *tile* is at most
ROWS rows of the result by one panel: its sums stay in vector registers for all K.  A *strip* is the same for
a transposed operand: at most ROWS of its columns as [K,ROWS].  A *member* is one thread of a team.

Read in this order:
  tiles      counts, without Numba: Core, Tile, predicted_rate(tile, core), choose_tile(core), CORES
  host       what Numba compiles for here: INSTRUCTION_SET, CORE, TILE, ROWS, VECTORS, VECTOR_BYTES, FUSED
  kernel     emit_tile(builder, form, call) with llvmlite alone; multiply_tile(…), the same from Numba
  vectors    a vector as a value in Numba: load, store, + - * /, tanh, sigmoid
  panels     panel_width(dtype), panel_count(columns, dtype); pack_panels, pack_transposed, pack_strips
  products   multiply_rows (one panel), multiply_unpacked (a·b), multiply_transposed (aᵀ·b): edges and blocks
  steps      a step's pointwise work on the units of a panel
  barrier    wait(counter, members): all threads arrive before any continues
  forward    run_forward: a member's share of a layer, from packing to the last step
  backward   run_backward: the same for all gradients
  team       one thread a core: run(task, members)
  memory     freed memory stays with the process, up to a limit
  split      a layer's work split by sequences or by units, as a model expects to be faster
  propagation   a network, layer by layer

The whole of a product, with arrays that Numba takes (flat, one dtype: float32 or float64):

    width, P = panel_width("float32"), panel_count(N, "float32")
    panels = np.empty(P * K * width, "float32")
    pack_panels(weights.ravel(), 0, N, K, N, panels, 0, K)                 weights [K,N], rows N apart
    for p in range(P):                                                    c [M,P·width]
        multiply_rows(M, a.ravel(), 0, K, panels, p * K * width, K, c.ravel(), p * width, P * width, False)

`choose_tile(CORES["avx2"])` is Tile(rows=6, vectors=2): of 16 registers of 8 lanes, 12 hold sums, 2 the
vectors of the panel and one a number in all lanes; 8 loads serve 12 FMAs.  `tile.spills(core)` counts sums
without a register, `tile.loads_per_fma` is (rows + vectors) / (rows · vectors).
"""
