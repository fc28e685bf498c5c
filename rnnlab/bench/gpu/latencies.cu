// One latency a kernel: each does the same small thing `times` times, and the time is divided by that.
// Defined by latencies.py: NUMBER 0, CLUSTER (blocks of a cluster).
#include "persistence/instructions.cuh"

extern "C" __global__ void nothing() {}

// All blocks meet at flags, one a block, with one load and one store of each between: as persistent_grid.cu does.
extern "C" __global__ void flags(int *flags, int *failed, uint4 *data, int times) {
  for (int step = 1; step <= times; step++) {
    const int next = (blockIdx.x + 1) % gridDim.x;
    uint4 v = load_l2(data + (step % 2 * gridDim.x + next) * blockDim.x + threadIdx.x);
    v.x += 1;
    data[((step + 1) % 2 * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x == 0) store_release(flags + blockIdx.x, step);
    bool late = false;
    for (int block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
      int looks = 0;
      while (load_acquire(flags + block) < step && looks < 1 << 24) looks++;
      late |= looks == 1 << 24;
    }
    if (late) atomicMax(failed, step);
    if (__syncthreads_or(late)) return;
  }
}

// The same at one counter that all blocks raise.
extern "C" __global__ void counter(int *count, int *failed, int times) {
  for (int step = 1; step <= times; step++) {
    __syncthreads();
    bool late = false;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1);
      int looks = 0;
      while (load_acquire(count) < step * gridDim.x && looks < 1 << 24) looks++;
      late = looks == 1 << 24;
    }
    if (late) atomicMax(failed, step);
    if (__syncthreads_or(late)) return;
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) cluster_barrier(int times) {
  for (int step = 0; step < times; step++) meet_cluster();
}

// Two blocks of a cluster push 8 bytes to each other and wait for them; so neither gets two steps ahead.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) push_across(int *failed, int times) {
  uint4 *room = dynamic_shared();
  Barrier *barriers = (Barrier *)(room + 2);
  if (threadIdx.x < 2) make_barrier(barriers + threadIdx.x);
  __syncthreads();
  meet_cluster();
  const int other = rank_in_cluster() ^ CLUSTER / 2;
  bool lost = false;
  for (int step = 0; step < times && threadIdx.x == 0 && !lost; step++) {
    Barrier *here = barriers + step % 2;
    announce(here, 8);
    push(in_block(room + step % 2, other), make_uint2(step, step), in_block(here, other));
    int looks = 0;
    while (!has_ended(here, step / 2 & 1) && looks < 1 << 20) looks++;
    if (looks == 1 << 20) lost = true, atomicMax(failed, step + 1);
  }
  meet_cluster();
}

// One thread follows a chain of places, each read past the first-level cache; left in `end`, so that it is done.
extern "C" __global__ void l2_chain(const uint4 *chain, Word *end, int times) {
  Word at = 0;
  for (int step = 0; step < times; step++) at = load_l2(chain + at).x;
  *end = at;
}

// Every block reads the same few MiB, `times` over; bytes over time are the L2's bandwidth.
extern "C" __global__ void l2_read(const uint4 *data, Word *end, int count, int times) {
  Word total = 0;
  for (int step = 0; step < times; step++)
    for (int i = threadIdx.x; i < count; i += blockDim.x) total ^= load_l2(data + (i + blockIdx.x * 64) % count).x;
  if (total == 12345) *end = total;
}
