// What NVML's calls look like: declarations of our own, as its header need not be installed where
// this is built. Names and numbers are NVML's (NVIDIA Management Library API reference).
#pragma once

#include <array>
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
enum NvLinkEnd : int { kToGpu = 0, kToSwitch = 2 };
// How near two devices are by PCIe: what they have in common.
enum Ancestor : int {
  kOneBoard = 0,
  kOneSwitch = 10,
  kSwitches = 20,
  kHostBridge = 30,
  kNumaNode = 40,
  kSystem = 50
};
inline constexpr int kScopeOfNumaNode = 0;
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

struct PciInfo {
  char address_of_old[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char address[32];  // "00000000:3B:00.0"
};

// GPU performance monitoring: what the chip counted between two samples. Hopper and later.
struct GpmSampleHandle;
using GpmSample = GpmSampleHandle*;
inline constexpr unsigned kGpmVersion = 1;
enum GpmMetricId : unsigned { kGpmSmActive = 2, kGpmSmOccupancy = 3 };

struct GpmSupport {
  unsigned version;
  unsigned is_supported;
};

struct GpmMetric {
  unsigned id;
  Return code;
  double value;  // per cent
  const char* short_name;
  const char* long_name;
  const char* unit;
};

// NVML's own array grew from 98 to 333 entries without another version; `count` are looked at.
struct GpmMetrics {
  unsigned version;
  unsigned count;
  GpmSample first;
  GpmSample second;
  std::array<GpmMetric, 512> metrics;
};

}  // namespace fleetbench::gpu::nvml
