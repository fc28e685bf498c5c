// A GPU for kernels that no GPU is there to run: every thread is a coroutine, whose turn it is is drawn by lot.
// Stands in for instructions.cuh: what an instruction does to whose registers is written here after the PTX
// manual, apart from the code that is tested.  Shared memory is poisoned.  What is pushed to another block or
// published in global memory arrives late, word by word, in any order; a warp sees its own words at once.
// Other stores to global memory are seen by all at once: an order that only those break is not seen here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define DEVICE inline
using std::max, std::min;
typedef unsigned int Word;
struct alignas(16) uint4 { Word x, y, z, w; };
struct alignas(8) uint2 { Word x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct Index { unsigned x; };
static uint4 make_uint4(Word x, Word y, Word z, Word w) { return {x, y, z, w}; }
static uint2 make_uint2(Word x, Word y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static float as_float(Word x) { float y; memcpy(&y, &x, 4); return y; }
static Word __float_as_uint(float x) { Word y; memcpy(&y, &x, 4); return y; }

struct Meeting {  // a barrier: all of `needed` come before one continues
  int needed = 0, came = 0, number = 0;
};
struct Warp { Meeting meeting; Word a[32][4], b[32][2]; float value[32]; };
struct Block { Meeting meeting, named[16]; std::vector<Warp> warps; std::vector<uint4> shared; int any[2] = {0, 0}; };
struct Thread { ucontext_t context; unsigned block, index; bool done = false; std::vector<char> stack; };
struct Push { char *to; const Word *from; Word value; char *barrier; };  // one word of a packet; value if not from memory
struct Publication { Word *to; Word value; Warp *by; };
struct Phases { int16_t missing, number; int32_t bytes; };  // of one barrier in shared memory

static ucontext_t scheduler;
static Thread *current;
static std::vector<Block> blocks;
static std::vector<Meeting> clusters;
static std::vector<Push> under_way;
static std::vector<Publication> published;
static unsigned long long rounds;
static std::mt19937 lots;
static unsigned cluster_size, late;  // late: a block to which nothing is delivered for a while
static Index gridDim, blockDim;
#define threadIdx (Index{current->index})
#define blockIdx (Index{current->block})

template <typename T> static T drawn(std::vector<T> &from) {
  std::swap(from[lots() % from.size()], from.back());
  const T some = from.back();
  from.pop_back();
  return some;
}
static void others() { swapcontext(&current->context, &scheduler); }
static void meet_at(Meeting &here) {
  const int number = here.number;
  if (++here.came == here.needed) here.came = 0, here.number++;
  else while (here.number == number) others();
}
static Block &block() { return blocks[current->block]; }
static Warp &warp_of() { return block().warps[current->index / 32]; }
static void __syncthreads() { meet_at(block().meeting); }
static void __syncwarp() { meet_at(warp_of().meeting); }
static int __syncthreads_or(int value) {
  int &any = block().any[block().meeting.number / 2 % 2];
  any |= value;
  __syncthreads();
  const int found = any;
  __syncthreads();
  any = 0;
  return found;
}
static void atomicMax(int *at, int value) { *at = std::max(*at, value); }
static void atomicAdd(int *at, int value) { *at += value; }
static void __threadfence() {}

#if DTYPE == 2
typedef float Number;
static float wide(Number x) { return x; }
static Number narrow(float x) { return x; }
static Word factor(Word x) { return (x + 0x1000) & 0xFFFFE000; }
static float times(Word a, Word b) { return as_float(a & 0xFFFFE000) * as_float(b & 0xFFFFE000); }
#else
typedef unsigned short Number;
static Word factor(Word x) { return x; }
#if DTYPE == 0
static float wide(Number x) { return as_float((Word)x << 16); }
static Number narrow(float x) {  // nearest, ties to even
  const Word bits = __float_as_uint(x);
  return std::isnan(x) ? 0x7FFF : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}
#else
static float wide(Number x) { _Float16 y; memcpy(&y, &x, 2); return y; }
static Number narrow(float x) { const _Float16 y = (_Float16)x; Number z; memcpy(&z, &y, 2); return z; }
#endif
static float times(Word a, Word b) { return wide(a) * wide(b) + wide(a >> 16) * wide(b >> 16); }
#endif
static float fast_tanh(float x) { return tanhf(x); }

static void multiply(float (&sum)[4], const uint4 &a, Word b0, Word b1) {
  Warp &warp = warp_of();
  const unsigned lane = current->index % 32;
  memcpy(warp.a[lane], &a, 16);
  warp.b[lane][0] = factor(b0), warp.b[lane][1] = factor(b1);
  __syncwarp();
  for (int k = 0; k < 4; k++) {
    const int row = lane / 4 + 8 * (k / 2), column = lane % 4 * 2 + k % 2;
    for (int word = 0; word < 8; word++)
      sum[k] += times(warp.a[row % 8 * 4 + word % 4][row / 8 + word / 4 * 2], warp.b[column * 4 + word % 4][word / 4]);
  }
  __syncwarp();
}
static float from_lane(float value, int distance) {
  Warp &warp = warp_of();
  warp.value[current->index % 32] = value;
  __syncwarp();
  const float got = warp.value[current->index % 32 ^ distance];
  __syncwarp();
  return got;
}
static uint4 *dynamic_shared() { return block().shared.data(); }
static Word from_lane(Word value, int distance) { return __float_as_uint(from_lane(as_float(value), distance)); }
static int of_warp(int value) { return value; }
static bool any_lane(bool value) {
  Warp &warp = warp_of();
  warp.value[current->index % 32] = value;
  __syncwarp();
  const bool any = std::any_of(warp.value, warp.value + 32, [](float each) { return each != 0; });
  __syncwarp();
  return any;
}
static unsigned long long nanoseconds() { return 1000 * rounds; }
static void prefetch(const void *) {}
static uint4 load_l2(const uint4 *from) { return *from; }
static uint4 load_relaxed(const uint4 *from) { others(); return *from; }
static void store_relaxed(Word *to, Word value) { published.push_back({to, value, &warp_of()}); }
static Number load_own(const Number *from) {
  Number value = *from;
  for (const Publication &each : published)
    if (each.by == &warp_of() && (Word *)((uintptr_t)from & ~3ull) == each.to)
      memcpy(&value, (char *)&each.value + ((uintptr_t)from & 3), sizeof value);
  return value;
}
static void publish_some(size_t count) {
  for (; count > 0; count--) {
    const Publication some = drawn(published);
    *some.to = some.value;
  }
}
static int load_acquire(const int *from) { others(); return *from; }
static void store_release(int *to, int value) { others(); *to = value; }

#ifdef CLUSTER
typedef unsigned long long Barrier;
typedef char *Remote;
static Word shared_address(const void *pointer) { return (char *)pointer - (char *)dynamic_shared(); }
static Word in_register(Word value) { return value; }
static uint4 load_shared(Word from) { return *(const uint4 *)((char *)dynamic_shared() + from); }
static int rank_in_cluster() { return current->block % cluster_size; }
static Remote in_block(const void *mine, int rank) {
  Block &there = blocks[current->block / cluster_size * cluster_size + rank];
  return (char *)there.shared.data() + ((char *)mine - (char *)dynamic_shared());
}
static void settle(Phases *at) {
  if (at->missing == 0 && at->bytes == 0) at->number++, at->missing = 1;
}
static void push(Remote to, uint2 v, Remote barrier) {
  under_way.push_back({to, nullptr, v.x, barrier}), under_way.push_back({to + 4, nullptr, v.y, barrier});
}
static void push(Remote to, uint4 v, Remote barrier) {
  push(to, uint2{v.x, v.y}, barrier), push(to + 8, uint2{v.z, v.w}, barrier);
}
static void push_bulk(Remote to, const void *from, int bytes, Remote barrier) {  // reads late, as the copy engine does
  for (int i = 0; i < bytes / 4; i++) under_way.push_back({to + 4 * i, (const Word *)from + i, 0, barrier});
}
static void fence_for_bulk() {}
static void synchronize_threads(int barrier, int threads) {
  Meeting &meeting = block().named[barrier];
  meeting.needed = threads;
  meet_at(meeting);
}
static void make_barrier(Barrier *at) { *(Phases *)at = {1, 0, 0}; }
static void announce(Barrier *at, int bytes) {
  Phases *phases = (Phases *)at;
  phases->bytes += bytes, phases->missing--;
  settle(phases);
}
static bool has_ended(Barrier *at, int parity) {
  others();
  return (((Phases *)at)->number & 1) != parity;
}
static void synchronize_cluster() { meet_at(clusters[current->block / cluster_size]); }
static void deliver() {
  std::vector<Push> later;
  for (size_t some = lots() % (under_way.size() + 1); some > 0; some--) {
    const Push each = drawn(under_way);
    if (late < blocks.size() && each.to >= (char *)blocks[late].shared.data() && each.to < (char *)&blocks[late].shared.back()) {
      later.push_back(each);
      continue;
    }
    memcpy(each.to, each.from ? each.from : &each.value, 4);
    ((Phases *)each.barrier)->bytes -= 4;
    settle((Phases *)each.barrier);
  }
  under_way.insert(under_way.end(), later.begin(), later.end());
}
#else
static void deliver() {}
#endif

static void (*body)();
static void enter() {
  body();
  current->done = true;
  others();
}

// Runs body() on so many threads; 0, or how many had not ended when nobody had been able to continue for long.
static int run(unsigned grid, unsigned threads, unsigned cluster, size_t shared, unsigned seed, void (*kernel)()) {
  lots.seed(seed), body = kernel, gridDim = {grid}, blockDim = {threads}, cluster_size = cluster;
  blocks.assign(grid, Block()), clusters.assign(grid / cluster, Meeting{(int)(threads * cluster)}), under_way.clear(), published.clear();
  std::vector<Thread> all(grid * threads);
  for (unsigned b = 0; b < grid; b++) {
    blocks[b].meeting.needed = threads;
    blocks[b].warps.resize(threads / 32);
    for (Warp &each : blocks[b].warps) each.meeting.needed = 32;
    blocks[b].shared.assign(shared / 16 + 1, make_uint4(~0u, ~0u, ~0u, ~0u));
  }
  std::vector<Thread *> alive;
  for (unsigned i = 0; i < all.size(); i++) {
    Thread &each = all[i];
    each.block = i / threads, each.index = i % threads, each.stack.resize(1 << 16);
    getcontext(&each.context);
    each.context.uc_stack.ss_sp = each.stack.data(), each.context.uc_stack.ss_size = each.stack.size();
    makecontext(&each.context, enter, 0);
    alive.push_back(&each);
  }
  unsigned lazy = 0, size = 1;  // threads that do nothing for a while: a block, or a warp
  for (rounds = 0; !alive.empty() && rounds < 50000; rounds++) {
    if (rounds % 50 == 0) size = rounds % 200 ? 32 : threads, lazy = lots() % (all.size() / size);
    if (rounds % 200 == 0) late = lots() % (2 * grid);
    std::shuffle(alive.begin(), alive.end(), lots);
    for (Thread *each : alive) {
      if ((each->block * threads + each->index) / size == lazy) continue;
      current = each;
      swapcontext(&scheduler, &each->context);
    }
    deliver();
    publish_some(lots() % (published.size() + 1));
    alive.erase(std::remove_if(alive.begin(), alive.end(), [](Thread *each) { return each->done; }), alive.end());
  }
  publish_some(published.size());
  return alive.size();
}
