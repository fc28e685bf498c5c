// What PTX says and C++ cannot: one instruction a function, each with the manual's name beside it.
// DTYPE: how numbers lie in memory.  0 bfloat16, 1 float16, 2 float32 that products round to TF32.
#pragma once
#define DEVICE __device__ __forceinline__
typedef unsigned int Word;  // 32 bits: two 16-bit numbers, or one float32
typedef unsigned long long Barrier;
typedef unsigned int Remote;  // an address in the shared memory of some block of the cluster

#if DTYPE == 2
typedef float Number;
DEVICE float wide(Number x) { return x; }
DEVICE Number narrow(float x) { return x; }
DEVICE float fast_tanh(float x) { return tanhf(x); }
DEVICE Word factor(Word x) {  // nearest TF32, where the tensor core would cut off
  Word y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
  return y;
}
#define MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#else
typedef unsigned short Number;
DEVICE Word factor(Word x) { return x; }
DEVICE float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#if DTYPE == 0
DEVICE float wide(Number x) { return __uint_as_float((Word)x << 16); }
DEVICE Number narrow(float x) {
  Number y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#else
DEVICE float wide(Number x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
DEVICE Number narrow(float x) {
  Number y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#endif
#endif

// sum [16,8] += a [16, 8 words] · b [8 words, 8]; who holds what: fragments.py
DEVICE void multiply(float (&sum)[4], const uint4 &a, Word b0, Word b1) {
  asm volatile(MMA " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(factor(b0)), "r"(factor(b1)));
}

DEVICE float from_lane(float value, int distance) { return __shfl_xor_sync(0xFFFFFFFF, value, distance); }
DEVICE Word from_lane(Word value, int distance) { return __shfl_xor_sync(0xFFFFFFFF, value, distance); }
DEVICE int of_warp(int value) { return __shfl_sync(0xFFFFFFFF, value, 0); }  // so the compiler knows: all lanes' is the same
DEVICE bool any_lane(bool value) { return __any_sync(0xFFFFFFFF, value); }

DEVICE unsigned long long nanoseconds() {  // of a clock that runs however fast the multiprocessors are
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

DEVICE uint4 *dynamic_shared() {
  extern __shared__ uint4 room[];
  return room;
}

DEVICE uint4 load_l2(const uint4 *from) {  // past the first-level cache, which other blocks do not write to
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from) : "memory");
  return v;
}

DEVICE uint4 load_relaxed(const uint4 *from) {  // four words, each what some thread of the chip stored there
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from) : "memory");
  return v;
}

DEVICE void prefetch(const void *from) {  // into the second-level cache
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

DEVICE void store_relaxed(Word *to, Word value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

DEVICE Number load_own(const Number *from) { return *from; }  // what a lane of this warp stored before __syncwarp

DEVICE int load_acquire(const int *from) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

DEVICE void store_release(int *to, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

#ifdef CLUSTER
DEVICE int rank_in_cluster() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

DEVICE Word shared_address(const void *pointer) { return (Word)__cvta_generic_to_shared(pointer); }
DEVICE Word in_register(Word value) {  // as an unknown number, which the compiler cannot compute again in each step
  asm volatile("" : "+r"(value));
  return value;
}
DEVICE uint4 load_shared(Word from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
  return v;
}

DEVICE Remote in_block(const void *mine, int rank) {  // the same place in another block's shared memory
  Remote there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(mine)), "r"(rank));
  return there;
}

DEVICE void push(Remote to, uint4 v, Remote barrier) {
  // 16 bytes; the barrier there counts them
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
               " [%0], {%1, %2, %3, %4}, [%5];"
               ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
               : "memory");
}
DEVICE void push(Remote to, uint2 v, Remote barrier) {  // 8 bytes
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
               ::"r"(to), "r"(v.x), "r"(v.y), "r"(barrier) : "memory");
}

// `bytes` of this block's shared memory, a multiple of 16, in one packet.  The copy engine reads what threads
// wrote before their fence and a barrier of theirs.
DEVICE void push_bulk(Remote to, const void *from, int bytes, Remote barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "r"(shared_address(from)), "r"(bytes), "r"(barrier) : "memory");
}
DEVICE void fence_for_bulk() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

DEVICE void synchronize_threads(int barrier, int threads) {  // barrier 1 to 15; 0 is __syncthreads()
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

DEVICE void make_barrier(Barrier *barrier) {  // a phase ends when one thread and all announced bytes came
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void announce(Barrier *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

DEVICE bool has_ended(Barrier *barrier, int parity) {  // waits a while, as long as the hardware sees fit
  int ended;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
               " selp.s32 %0, 1, 0, p; }" : "=r"(ended) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return ended;
}

DEVICE void synchronize_cluster() {
  __syncwarp();  // "aligned": all lanes of a warp come together
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif
