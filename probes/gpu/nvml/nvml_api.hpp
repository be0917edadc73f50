// What NVML's calls look like: declarations of our own, as its header need not be installed where
// this is built. Names and numbers are NVML's (NVIDIA Management Library API reference).
#pragma once

#include <cstdint>

namespace fleetbench::gpu::nvml {

struct DeviceHandle;  // opaque
using Device = DeviceHandle*;
struct EventSetHandle;
using EventSet = EventSetHandle*;

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kTimeout = 10;
inline constexpr Return kGpuIsLost = 15;

enum Clock : int { kClockGraphics = 0, kClockSm = 1, kClockMemory = 2 };
enum Sensor : int { kSensorGpu = 0 };
enum MemoryError : int { kCorrected = 0, kUncorrected = 1 };
enum EccCounter : int { kVolatile = 0, kAggregate = 1 };
enum PcieCounter : int { kTransmit = 0, kReceive = 1 };
enum NvLinkError : int { kReplay = 0, kRecovery = 1, kCrcFlit = 2, kCrcData = 3 };
inline constexpr unsigned kMostNvLinks = 18;
inline constexpr unsigned long long kEventXid = 0x8;

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // of an Xid event: its number
  unsigned gpu_instance;
  unsigned compute_instance;
};

}  // namespace fleetbench::gpu::nvml
