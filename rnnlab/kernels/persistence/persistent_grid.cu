// A layer's whole sequence on the whole chip: each block keeps its units' weights as the tensor cores want them.
//
// A block has rows of the matrix: its units' gates forward, its units' columns of it backward.  Its warps share
// out the sum over the other dimension, so each reads its own part of h (or of the gates' gradients) straight
// from the second-level cache; their partial sums are added in shared memory, always in the same order.
//
// A step has one barrier of the block and no fence.  Blocks wait for each other by polling the numbers
// themselves (exchange.cuh).  Partial sums lie in two buffers in turn: a warp that writes one again has passed
// the barrier between, at which every warp came after reading it.
//
// Defined by shapes.py: DTYPE, CELL, HIDDEN, WARPS, FORWARD_UNITS and BACKWARD_UNITS of a block, FORWARD_AWAY
// and BACKWARD_AWAY (pairs of a warp's weight tiles that lie in shared memory), CHUNK (tiles of sequences at once).
#include "../kernels/persistence/instructions.cuh"
#include "../kernels/persistence/cells.cuh"
#include "../kernels/persistence/items.cuh"
#include "../kernels/persistence/exchange.cuh"

constexpr int THREADS = 32 * WARPS;
constexpr int A_ROW = sizeof(Number) * HIDDEN / 64;  // pairs of tiles (64 bytes) in HIDDEN numbers
constexpr int TILE_STRIDE = SEQUENCES * 4 * A_ROW;   // 16 bytes each, from a tile of sequences of h to the next
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900  // more of any is spilled there
constexpr int IN_FLIGHT = 4, CHAINS = 1, AT_ONCE = 1;
#else
constexpr int IN_FLIGHT = 8;  // reads of 16 bytes that a lane has on their way at once
constexpr int CHAINS = 4;     // products of a lane that do not wait for each other
constexpr int AT_ONCE = 4;    // pieces of work that a warp loads together
#endif
__device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// A warp's weights: ROWS tiles of 16 rows, PAIRS pairs of tiles of each, AWAY of them in shared memory.
template <int ROWS, int PAIRS, int AWAY> struct Slice {
  static constexpr int NEAR = PAIRS - AWAY, DEEP = smaller(PAIRS, IN_FLIGHT);  // pairs at once
  static constexpr int WIDE = larger(1, smaller(CHUNK, smaller(IN_FLIGHT / DEEP, 4 / ROWS)));  // tiles at once
  static constexpr int SUMS = larger(1, smaller(2 * DEEP, CHAINS / (ROWS * WIDE)));  // of a tile
  static constexpr int WORDS = ROWS * 8 * NEAR;  // of weights in a lane's registers
  uint4 near[ROWS][2 * NEAR], *away;

  DEVICE void load(const uint4 *packed, uint4 *room) {
    const int warp = of_warp(threadIdx.x / 32), lane = threadIdx.x % 32;
    away = room + warp * ROWS * 2 * AWAY * 32 + lane;
    #pragma unroll
    for (int r = 0; r < ROWS; r++)
      #pragma unroll
      for (int k = 0; k < 2 * PAIRS; k++) {
        const uint4 tile = packed[(((size_t)blockIdx.x * ROWS + r) * WARPS + warp) * 2 * PAIRS * 32 + k * 32 + lane];
        if (k < 2 * NEAR) near[r][k] = tile;
        else away[(r * 2 * AWAY + k - 2 * NEAR) * 32] = tile;
      }
  }

  // keep(tile of sequences, row of tiles, sum) for each: weights · the lane's rows of numbers, `stride` times
  // 16 bytes apart, of which this warp has its part.  False if some were not written in a long time; without
  // `wait` they are taken as they are.
  template <typename Keep> DEVICE bool products(const Number *row, size_t stride, int tiles, bool wait, Keep keep) const {
    bool in_time = true;
    const uint4 *words = (const uint4 *)row + threadIdx.x / 32 * PAIRS * 4 + threadIdx.x % 4;
    for (int n = 0; n < tiles; n += WIDE) {
      float sums[WIDE][ROWS][SUMS][4] = {};
      #pragma unroll
      for (int first = 0; first < PAIRS; first += DEEP) {
        uint4 b[WIDE][DEEP];
        auto each_read = [&](auto work) {
          #pragma unroll
          for (int q = 0; q < WIDE; q++)
            #pragma unroll
            for (int p = 0; p < DEEP; p++)
              if ((WIDE == 1 || n + q < tiles) && first + p < PAIRS) work(q, p);
        };
        auto read = [&](int q, int p) { b[q][p] = load_relaxed(words + (n + q) * stride + 4 * (first + p)); };
        auto is_missing = [&] {
          bool missing = false;
          each_read([&](int q, int p) { missing |= is_unwritten(b[q][p]); });
          return any_lane(missing);
        };
        each_read(read);
        for (Watch watch; wait && in_time && is_missing(); each_read(read)) in_time = !any_lane(watch.is_over());
        each_read([&](int q, int p) {
          #pragma unroll
          for (int r = 0; r < ROWS; r++) {
            const int k = 2 * (first + p);
            multiply(sums[q][r][2 * p % SUMS], tile(r, k), b[q][p].x, b[q][p].y);
            multiply(sums[q][r][(2 * p + 1) % SUMS], tile(r, k + 1), b[q][p].z, b[q][p].w);
          }
        });
      }
      for (int q = 0; q < WIDE && n + q < tiles; q++)
        for (int r = 0; r < ROWS; r++) {
          for (int s = 1; s < SUMS; s++)
            for (int k = 0; k < 4; k++) sums[q][r][0][k] += sums[q][r][s][k];
          keep(n + q, r, sums[q][r][0]);
        }
    }
    return in_time;
  }

  DEVICE uint4 tile(int r, int k) const { return k < 2 * NEAR ? near[r][k] : away[(r * 2 * AWAY + k - 2 * NEAR) * 32]; }
};

// Pieces of a chunk's work that a warp loads together, the first of them before it waits; one beside many weights.
__device__ constexpr int ahead(int pieces, int words) { return words > 64 ? 1 : larger(1, smaller(AT_ONCE, pieces / WARPS)); }

// gates [T,B,G·H]: the products with the inputs and the biases; left holding the gates.  h [T+1,B,H] has its
// first step, the others are UNWRITTEN; reserve [T,B,H,RESERVED] has one step more where there is c, whose first is given.
// B is a multiple of 8.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
persistent_forward(const uint4 *weights, const float *vectors, Number *gates, Number *h, float *reserve,
                   int *failed, int T, int B) {
  typedef Slice<FORWARD_UNITS / TILE_UNITS, A_ROW / WARPS, FORWARD_AWAY> Weights;
  constexpr int ROWS = FORWARD_UNITS / TILE_UNITS, AHEAD = ahead(ROWS * CHUNK, Weights::WORDS);
  const int warp = of_warp(threadIdx.x / 32), lane = threadIdx.x % 32, tiles = B / SEQUENCES;
  float4 *buffers = (float4 *)dynamic_shared();  // [2][tile][warp][lane]
  Weights slice;
  slice.load(weights, (uint4 *)(buffers + 2 * CHUNK * ROWS * THREADS));
  bool in_time = true;
  int chunk = 0;
  for (int t = 0; t < T; t++)
    for (int first = 0; first < tiles; first += CHUNK, chunk++) {
      const int tiles_now = min(CHUNK, tiles - first), pieces = ROWS * tiles_now;
      float4 *parts = buffers + chunk % 2 * CHUNK * ROWS * THREADS;
      Number input[AHEAD][ITEMS][4], before[AHEAD][ITEMS] = {};
      float c[AHEAD][ITEMS], saved;
      // of piece q of the chunk, item i: its place among [B,H], and the place of its first gate
      auto place = [&](int q, int i) {
        const int unit = blockIdx.x * FORWARD_UNITS + q % ROWS * TILE_UNITS + unit_of(i, SLOTS);
        return (size_t)(first + q / ROWS) * SEQUENCES * HIDDEN + sequence_of(i, SLOTS) * HIDDEN + unit;
      };
      auto gate = [&](size_t at) { return gates + (size_t)t * B * GATES * HIDDEN + at / HIDDEN * GATES * HIDDEN + at % HIDDEN; };
      auto load = [&](int from) {
        #pragma unroll
        for (int a = 0; a < AHEAD; a++)
          for (int i = 0; i < ITEMS && from + a * WARPS < pieces; i++) {
            const size_t at = place(from + a * WARPS, i), now = (size_t)t * B * HIDDEN + at;
            for (int g = 0; g < GATES; g++) {
              input[a][i][g] = gate(at)[g * HIDDEN];
              if (t + 2 < T) prefetch(gate(at) + (2 * (size_t)B * GATES + g) * HIDDEN);
            }
            if (HAS_C) c[a][i] = reserve[RESERVED * now];
            if (FORWARD_READS_H) before[a][i] = load_own(h + now);
          }
      };
      load(warp);  // none of it waits for other blocks
      const Number *row = h + ((size_t)t * B + first * SEQUENCES + lane / 4) * HIDDEN;
      in_time &= slice.products(row, TILE_STRIDE, tiles_now, in_time && t > 0, [&](int n, int r, const float (&sum)[4]) {
        parts[((n * ROWS + r) * WARPS + warp) * 32 + lane] = make_float4(sum[0], sum[1], sum[2], sum[3]);
      });
      if (!in_time && lane == 0) atomicMax(failed, max(1, t));
      __syncthreads();
      for (int from = warp; from < pieces; from += AHEAD * WARPS) {
        if (ROWS * CHUNK > AHEAD * WARPS && from != warp) load(from);
        #pragma unroll
        for (int a = 0; a < AHEAD; a++) {
          const int q = from + a * WARPS;
          if (q >= pieces) break;
          float total[4] = {}, sums[ITEMS][4];
          #pragma unroll
          for (int w = 0; w < WARPS; w++) {
            const float4 part = parts[(q * WARPS + w) * 32 + lane];
            total[0] += part.x, total[1] += part.y, total[2] += part.z, total[3] += part.w;
          }
          sums_of_items(total, sums);
          for (int i = 0; i < ITEMS; i++) {
            const size_t at = place(q, i), now = (size_t)t * B * HIDDEN + at, next = now + (size_t)B * HIDDEN;
            float in[4];
            for (int g = 0; g < GATES; g++) in[g] = wide(input[a][i][g]);
            Vectors of_unit;
            load_vectors(vectors, at % HIDDEN, of_unit);
            publish(h + next, step_forward(in, sums[i], of_unit, wide(before[a][i]), c[a][i], c[a][i], saved));
            if (HAS_C) reserve[RESERVED * next] = c[a][i];
            if (SAVES) reserve[RESERVED * now + HAS_C] = saved;
            for (int g = 0; g < GATES; g++) gate(at)[g * HIDDEN] = narrow(in[g]);
          }
        }
      }
      __syncwarp();  // what a lane published, its neighbour may read as its own state
    }
}

// dy [T,B,H], dlast [B,H]: gradients of every h and of the last beside; carry [B,H,CARRIED]: dc, and 0 for what
// goes past the products, left for what comes before the first step, and 0 for the gradients of vectors.  dgates and dgates_h [T,B,G·H]: see
// step_backward; one array where INNER is -1.  dgates_h is UNWRITTEN.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
persistent_backward(const uint4 *weights, const float *vectors, const Number *gates, const Number *h, const float *reserve,
                    const Number *dy, const float *dlast, float *carry, Number *dgates, Number *dgates_h, int *failed, int T, int B) {
  typedef Slice<BACKWARD_UNITS / 16, GATES * A_ROW / WARPS, BACKWARD_AWAY> Weights;
  constexpr int ROWS = BACKWARD_UNITS / 16, AHEAD = ahead(4 * ROWS * CHUNK, Weights::WORDS);
  const int warp = of_warp(threadIdx.x / 32), lane = threadIdx.x % 32, tiles = B / SEQUENCES;
  float *buffers = (float *)dynamic_shared();  // [2][tile][item][warp][lane]: a warp finishes one item of a tile
  Weights slice;
  slice.load(weights, (uint4 *)(buffers + 8 * CHUNK * ROWS * THREADS));
  bool in_time = true;
  int chunk = 0;
  for (int t = T - 1; t >= 0; t--)
    for (int first = 0; first < tiles; first += CHUNK, chunk++) {
      const int tiles_now = min(CHUNK, tiles - first), pieces = 4 * ROWS * tiles_now;
      const bool is_last = t + 1 == T;
      float *parts = buffers + chunk % 2 * 4 * CHUNK * ROWS * THREADS;
      Before before[AHEAD];
      float dc[AHEAD], past[AHEAD];
      auto place = [&](int q) {  // of a piece, among [B,H]
        const int unit = blockIdx.x * BACKWARD_UNITS + q / 4 % ROWS * 16 + unit_of(q % 4, 1);
        return (size_t)((first + q / 4 / ROWS) * SEQUENCES + sequence_of(q % 4, 1)) * HIDDEN + unit;
      };
      auto gate = [&](size_t at) { return ((size_t)t * B + at / HIDDEN) * GATES * HIDDEN + at % HIDDEN; };
      auto load = [&](int from) {
        #pragma unroll
        for (int a = 0; a < AHEAD; a++) {
          if (from + a * WARPS >= pieces) break;
          const size_t at = place(from + a * WARPS), row_size = (size_t)B * HIDDEN;
          before[a] = load_before(gates, h, reserve, dy, t * row_size + at, gate(at), row_size);
          prefetch_before(gates, h, reserve, dy, t * row_size + at, gate(at), row_size);
          if (HAS_C) dc[a] = carry[CARRIED * at];
          if (PASSES_H) past[a] = carry[CARRIED * at + HAS_C];
        }
      };
      load(warp);  // none of it waits for other blocks
      auto keep_parts = [&](int n, int r, const float (&sum)[4]) {
        for (int i = 0; i < 4; i++) parts[(((n * ROWS + r) * 4 + i) * WARPS + warp) * 32 + lane] = sum[i];
      };
      const Number *row = dgates_h + ((size_t)(t + 1) * B + first * SEQUENCES + lane / 4) * GATES * HIDDEN;
      if (!is_last) in_time &= slice.products(row, GATES * TILE_STRIDE, tiles_now, in_time, keep_parts);
      if (!in_time && lane == 0) atomicMax(failed, T - 1 - t);
      __syncthreads();
      for (int from = warp; from < pieces; from += AHEAD * WARPS) {
        if (4 * ROWS * CHUNK > AHEAD * WARPS && from != warp) load(from);
        #pragma unroll
        for (int a = 0; a < AHEAD; a++) {
          const int q = from + a * WARPS;
          if (q >= pieces) break;
          const size_t at = place(q);
          float dh = wide(before[a].dy) + (is_last ? dlast[at] : 0.f), dgate[4], dgate_h[4];
          if (!is_last)
            #pragma unroll
            for (int w = 0; w < WARPS; w++) dh += parts[(q * WARPS + w) * 32 + lane];
          Vectors of_unit, dvectors = {};
          load_vectors(vectors, at % HIDDEN, of_unit);
          step_backward(before[a], of_unit, dh, dc[a], past[a], dgate, dgate_h, dvectors);
          for (int g = 0; g < GATES; g++) publish(dgates_h + gate(at) + g * HIDDEN, dgate_h[g]);
          if (INNER >= 0)
            for (int g = 0; g < GATES; g++) dgates[gate(at) + g * HIDDEN] = narrow(dgate[g]);
          if (HAS_C) carry[CARRIED * at] = dc[a];
          if (PASSES_H) carry[CARRIED * at + HAS_C] = past[a];
          for (int v = 0; v < OWN_VECTORS; v++) carry[CARRIED * at + PASSING + v] += dvectors[v];
        }
      }
    }
}
