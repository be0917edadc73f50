"""What a chip could reach at most, told by its figures. Bounds of the architecture: clocks under load are lower.

Sources, each entry checked against the peak that its white paper gives for a chip:
  8.0   NVIDIA A100 Tensor Core GPU Architecture (2020), table 3: 108 SMs at 1410 MHz, fp16 312 TFLOP/s
  9.0   NVIDIA H100 Tensor Core GPU Architecture (2022): twice the A100's rate for each SM, fp8 twice fp16
  10.0  CUTLASS, Blackwell SM100 GEMMs: tcgen05.mma has 2x the throughput of Hopper in tf32, f16 and f8f6f4
  12.0  NVIDIA RTX Blackwell PRO GPU Architecture (2025): RTX PRO 6000, 188 SMs at 2617 MHz, fp16 503.8 TFLOP/s;
        NVIDIA RTX Blackwell GPU Architecture (2025): GeForce has half of that where sums are in fp32
  fp32  CUDA C++ Programming Guide, throughput of native arithmetic instructions: 64 multiply-adds a cycle and
        SM on 8.0, 128 on the others
"""

# Floating-point operations a cycle and SM, matrices that are dense, sums in fp32.
FLOP_PER_CYCLE = {
    "8.0": {"fp32": 128, "tf32": 1024, "fp16": 2048, "bf16": 2048},
    "9.0": {"fp32": 256, "tf32": 2048, "fp16": 4096, "bf16": 4096, "fp8": 8192},
    "10.0": {"fp32": 256, "tf32": 4096, "fp16": 8192, "bf16": 8192, "fp8": 16384},
    "12.0": {"fp32": 256, "tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048},
    "12.0 GeForce": {"fp32": 256, "tf32": 256, "fp16": 512, "bf16": 512, "fp8": 1024},
}

# Bytes a second of one lane, one way, that its encoding leaves for packets, their headers included:
# 8b/10b, from 8 GT/s on 128b/130b, at 64 GT/s 236 of the 256 bytes of a flit (PCI Express Base
# Specification 6.0).
PCIE_LANE = {
    1: 2.5e9 / 10,
    2: 5e9 / 10,
    3: 8e9 / 8 * 128 / 130,
    4: 16e9 / 8 * 128 / 130,
    5: 32e9 / 8 * 128 / 130,
    6: 64e9 / 8 * 236 / 256,
}

HOST_COPIES = ("host_to_device_", "device_to_host_")


class Unknown(Exception):
    """Why a limit cannot be told."""


def fact(gpu, name):
    if not gpu.get(name):
        raise Unknown(f"the driver does not tell {name}")
    return gpu[name]


def flop_per_s(gpu, precision):
    chip = gpu["compute_capability"]
    if chip == "12.0" and "GeForce" in gpu["model"]:
        chip = "12.0 GeForce"
    per_cycle = FLOP_PER_CYCLE.get(chip, {}).get(precision)
    if per_cycle is None:
        raise Unknown(f"no table has {precision} of compute capability {gpu['compute_capability']}")
    return per_cycle * fact(gpu, "multiprocessors") * fact(gpu, "max_sm_clock_hz")


def memory_bytes_per_s(gpu):
    """Two transfers a cycle, as NVML counts the clock of HBM and GDDR alike (M. Harris, "How to query device
    properties and handle errors in CUDA C/C++", NVIDIA, 2012)."""
    return 2 * fact(gpu, "max_memory_clock_hz") * fact(gpu, "memory_bus_bits") / 8


def pcie_bytes_per_s(gpu):
    generation = int(fact(gpu, "max_pcie_generation"))
    if generation not in PCIE_LANE:
        raise Unknown(f"no table has PCIe generation {generation}")
    return PCIE_LANE[generation] * fact(gpu, "max_pcie_width")


def limit_of(probe, metric, gpu):
    """The most that a metric can be on a GPU, `gpu` as gpu_inventory says it, in the metric's unit. Throws Unknown."""
    if probe == "gpu_gemm":
        return flop_per_s(gpu, metric.split(".")[0])
    if probe == "gpu_memory":
        return memory_bytes_per_s(gpu)
    if probe == "gpu_copy" and metric.startswith(HOST_COPIES):
        return pcie_bytes_per_s(gpu)
    if probe == "gpu_copy" and metric == "device_local_copy":
        return memory_bytes_per_s(gpu) / 2  # each byte is read and written, and counted once
    raise Unknown("no formula")
