// One latency a kernel: each does the same small thing `times` times, and the time is divided by that.
// Defined by latencies.py: DTYPE 0, CLUSTER (blocks of a cluster).
#include "../../rnnlab/kernels/persistence/instructions.cuh"
#include "../../rnnlab/kernels/persistence/exchange.cuh"

extern "C" __global__ void nothing() {}

// All blocks synchronise by flags, one a block, with one load and one store of each between.
extern "C" __global__ void flags(int *flags, int *failed, uint4 *data, int times) {
  for (int step = 1; step <= times; step++) {
    const int next = (blockIdx.x + 1) % gridDim.x;
    uint4 v = load_l2(data + (step % 2 * gridDim.x + next) * blockDim.x + threadIdx.x);
    v.x += 1;
    data[((step + 1) % 2 * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x == 0) store_release(flags + blockIdx.x, step);
    bool late = false;
    for (int block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      for (Watch watch; !late && load_acquire(flags + block) < step;) late = watch.is_over();
    if (late) atomicMax(failed, step);
    if (__syncthreads_or(late)) return;
  }
}

// Every block publishes 64 bytes and polls those of all blocks, as persistent_grid.cu exchanges h.
// history [times+1, blocks, 4] is UNWRITTEN.
extern "C" __global__ void poll_published(uint4 *history, int *failed, int times) {
  const int count = 4 * gridDim.x;
  bool in_time = true;
  for (int step = 1; step <= times; step++) {
    uint4 *place = history + (size_t)step * count;
    if (threadIdx.x < 16) store_relaxed((Word *)(place + 4 * blockIdx.x) + threadIdx.x, step);
    for (int first = 0; first < count; first += blockDim.x) {
      const uint4 *words = place + min(first + (int)threadIdx.x, count - 1);
      for (Watch watch; in_time && any_lane(is_unwritten(load_relaxed(words)));) in_time = !any_lane(watch.is_over());
    }
    if (!in_time && threadIdx.x % 32 == 0) atomicMax(failed, step);
    __syncthreads();
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
      for (Watch watch; !late && load_acquire(count) < step * gridDim.x;) late = watch.is_over();
    }
    if (late) atomicMax(failed, step);
    if (__syncthreads_or(late)) return;
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) cluster_barrier(int times) {
  for (int step = 0; step < times; step++) synchronize_cluster();
}

// The phase `step` of a barrier has ended; false if it has not in a long time.
DEVICE bool wait(Barrier *barrier, int step, int *failed) {
  const unsigned long long start = nanoseconds();
  while (!has_ended(barrier, (step - 1) / 2 & 1))
    if (nanoseconds() - start > MOST_WAIT) return atomicMax(failed, step), false;
  return true;
}

DEVICE void begin(Barrier *barriers) {
  if (threadIdx.x < 2) make_barrier(barriers + threadIdx.x);
  __syncthreads();
  synchronize_cluster();
}

// Two blocks of a cluster push 8 bytes to each other and wait for them; so neither gets two steps ahead.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) push_across(int *failed, int times) {
  uint4 *room = dynamic_shared();
  Barrier *barriers = (Barrier *)(room + 2);
  begin(barriers);
  const int other = rank_in_cluster() ^ CLUSTER / 2;
  bool in_time = true;
  for (int step = 1; step <= times && threadIdx.x == 0 && in_time; step++) {
    Barrier *barrier = barriers + step % 2;
    announce(barrier, 8);
    push(in_block(room + step % 2, other), make_uint2(step, step), in_block(barrier, other));
    in_time = wait(barrier, step, failed);
  }
  synchronize_cluster();
}

// Every block pushes SHARE bytes to every block of its cluster and waits for as many from each, as in a step of
// an LSTM of 512 units.  What it has is pushed in packets of 8 bytes, of 16, or of SHARE by the copy engine; in the
// order of persistent_cluster.cu, in which no two blocks push to the same one at a time.  A warp issues its copies
// one after the other, so warps share them out.
constexpr int SHARE = 512;
enum Packets { OF_8, OF_16, BULK };
template <Packets PACKETS> DEVICE void push_to_all(int *failed, int times) {
  uint4 *inbox = dynamic_shared(), *outbox = inbox + 2 * CLUSTER * SHARE / 16;
  Barrier *barriers = (Barrier *)(outbox + SHARE / 16);
  if (threadIdx.x < SHARE / 16) outbox[threadIdx.x] = make_uint4(threadIdx.x, 0, 0, 0);
  fence_for_bulk();
  begin(barriers);
  bool in_time = true;
  for (int step = 1; step <= times; step++) {
    Barrier *barrier = barriers + step % 2;
    uint4 *place = inbox + (step % 2 * CLUSTER + rank_in_cluster()) * SHARE / 16;
    if (threadIdx.x == 0) announce(barrier, CLUSTER * SHARE);
    constexpr int PACKET = PACKETS == OF_8 ? 8 : PACKETS == OF_16 ? 16 : SHARE, COUNT = SHARE / PACKET;
    if (PACKETS == BULK) __syncthreads();  // of threads that fill the outbox
    const int thread = PACKETS == BULK ? threadIdx.x % 32 * (blockDim.x / 32) + threadIdx.x / 32 : threadIdx.x;
    for (int k = thread; k < CLUSTER * COUNT; k += blockDim.x) {
      const char *from = (const char *)outbox + k % COUNT * PACKET;
      const int receiver = k / COUNT ^ rank_in_cluster();
      const Remote to = in_block((char *)place + k % COUNT * PACKET, receiver), there = in_block(barrier, receiver);
      if (PACKETS == OF_8) push(to, *(const uint2 *)from, there);
      else if (PACKETS == OF_16) push(to, *(const uint4 *)from, there);
      else push_bulk(to, from, PACKET, there);
    }
    in_time = in_time && wait(barrier, step, failed);
  }
  synchronize_cluster();
}
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) push_all_8(int *failed, int times) { push_to_all<OF_8>(failed, times); }
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) push_all_16(int *failed, int times) { push_to_all<OF_16>(failed, times); }
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) push_all_bulk(int *failed, int times) { push_to_all<BULK>(failed, times); }

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
