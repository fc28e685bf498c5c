"""The data sheet of the GPU at hand, from what the device says of itself; another sheet only for launches.

A device states its name, sizes, clock and memory.  It does not state how many multiply-adds a multiprocessor
starts: that is by compute capability, from NVIDIA's tables and data sheets (A10, L40S, B200 and RTX PRO 6000
for the tensor cores that the course's own sheets lack; none of these was measured here).
"""

from collections.abc import Mapping
from ctypes import byref, c_int, c_void_p
from functools import cache
from typing import Any

from pocketgpu.devices import DEVICES, Device, nearest_older
from rnnlab.gpu.cuda_driver import LARGE_CLUSTERS, check_status, cluster_launch, library
from rnnlab.kernels.persistence.shapes import MOST_CLUSTER

LANES = {(5, 0): 128, (6, 0): 64, (6, 1): 128, (7, 0): 64, (8, 6): 128}  # fp32 multiply-adds a cycle
TENSOR_RATE = {  # dense 16-bit FLOP a multiprocessor starts in a cycle, sums in float32
    (7, 0): 1024,
    (8, 0): 2048,
    (8, 6): 1024,
    (9, 0): 4096,
    (10, 0): 8192,
    (12, 0): 1024,  # GeForce cards from 8.6 on reach half
}
CLUSTERS_FROM = (9, 0)
BLOCK = 256  # threads: eight warps, as the cluster kernel has at most
NOTHING = 'extern "C" __global__ void nothing(int) {}'


def own_sheet(properties: Mapping[str, Any], attributes: Mapping[str, int]) -> Device:
    """A Device from cudaDeviceProp and the device's attributes, as CuPy names them.

    launch and node are those of the newest sheet that is not newer than the device: no device states them.
    """
    capability = properties["major"], properties["minor"]
    sheets = {sheet.compute_capability: sheet for sheet in reversed(DEVICES.values())}
    near = nearest_older(sheets, capability)
    read = lambda name, otherwise: attributes.get(name) or otherwise
    clock = 1e-6 * read("ClockRate", 1e6 * near.clock)
    wires = attributes.get("MemoryClockRate", 0) * attributes.get("GlobalMemoryBusWidth", 0)  # kHz · bits
    blocks = properties["multiProcessorCount"]
    shared = near.shared_per_multiprocessor
    rate = nearest_older(TENSOR_RATE, capability) if capability >= min(TENSOR_RATE) else 0
    return Device(
        name=properties["name"].decode(),
        compute_capability=capability,
        multiprocessors=blocks,
        lanes=nearest_older(LANES, capability),
        clock=clock,
        bandwidth=2 * wires / 8 * 1e-6 or near.bandwidth,  # two transfers a cycle
        l2=read("L2CacheSize", near.l2),
        launch=near.launch,
        node=near.node,
        registers_per_multiprocessor=4 * read("MaxRegistersPerMultiprocessor", 1 << 16),
        shared_per_multiprocessor=read("MaxSharedMemoryPerMultiprocessor", shared),
        shared_per_block=read("MaxSharedMemoryPerBlock", near.shared_per_block),
        shared_per_block_most=read("MaxSharedMemoryPerBlockOptin", near.shared_per_block_most),
        threads_per_multiprocessor=read("MaxThreadsPerMultiProcessor", near.threads_per_multiprocessor),
        blocks_per_multiprocessor=read("MaxBlocksPerMultiprocessor", near.blocks_per_multiprocessor),
        threads_per_block=read("MaxThreadsPerBlock", near.threads_per_block),
        tensor_peak=1e-3 * rate * blocks * clock or None,
    )


@cache
def has_large_clusters(capability: tuple[int, int]) -> bool:
    """Does the device at hand run clusters of 16 blocks?  The driver is asked (cuOccupancyMaxActiveClusters).

    A driver that cannot answer promises nothing.
    """
    if capability < CLUSTERS_FROM:
        return False
    try:
        import cupy

        module = cupy.RawModule(code=NOTHING, options=("--std=c++17",))
        kernel = c_void_p(module.get_function("nothing").kernel.ptr)
        driver = library()
        count = c_int()
        check_status("cuFuncSetAttribute", driver.cuFuncSetAttribute(kernel, LARGE_CLUSTERS, 1))
        _, config = cluster_launch(MOST_CLUSTER, BLOCK, 0, MOST_CLUSTER)
        status = driver.cuOccupancyMaxActiveClusters(byref(count), kernel, byref(config))
        check_status("cuOccupancyMaxActiveClusters", status)
    except Exception:  # no library, a status of the driver's, a compiler that knows no such device
        return False
    return count.value > 0
