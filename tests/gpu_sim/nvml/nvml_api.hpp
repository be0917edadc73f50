// What of NVML's interface the simulation has, declared anew: the toolkit ships no header for it.
// Names, numbers and layouts are NVML's.
#pragma once

extern "C" {

using nvmlReturn_t = int;
using nvmlDevice_t = struct nvmlDevice_st*;
using nvmlEventSet_t = struct nvmlEventSet_st*;

struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];
};

struct nvmlUtilization_t {
  unsigned gpu;
  unsigned memory;
};

struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

using nvmlGpmSample_t = struct nvmlGpmSample_st*;

struct nvmlGpmSupport_t {
  unsigned version;
  unsigned isSupportedDevice;
};

struct nvmlGpmMetric_t {
  unsigned metricId;
  nvmlReturn_t nvmlReturn;
  double value;
  struct {
    char* shortName;
    char* longName;
    char* unit;
  } metricInfo;
};

struct nvmlGpmMetricsGet_t {
  unsigned version;
  unsigned numMetrics;
  nvmlGpmSample_t sample1;
  nvmlGpmSample_t sample2;
  nvmlGpmMetric_t metrics[333];
};

struct nvmlEventData_t {
  nvmlDevice_t device;
  unsigned long long eventType;
  unsigned long long eventData;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

}  // extern "C"

namespace gpu_sim::nvml {

inline constexpr nvmlReturn_t kSuccess = 0;
inline constexpr nvmlReturn_t kUninitialized = 1;
inline constexpr nvmlReturn_t kInvalidArgument = 2;
inline constexpr nvmlReturn_t kNotSupported = 3;
inline constexpr nvmlReturn_t kNotFound = 6;
inline constexpr nvmlReturn_t kInsufficientSize = 7;
inline constexpr nvmlReturn_t kDriverNotLoaded = 9;
inline constexpr nvmlReturn_t kTimeout = 10;
inline constexpr nvmlReturn_t kLibraryNotFound = 12;
inline constexpr nvmlReturn_t kGpuIsLost = 15;
inline constexpr nvmlReturn_t kVersionMismatch = 25;

// Clocks.
inline constexpr int kGraphicsClock = 0;
inline constexpr int kSmClock = 1;
inline constexpr int kMemoryClock = 2;
inline constexpr int kVideoClock = 3;
inline constexpr unsigned long long kReasonIdle = 0x1;
inline constexpr unsigned long long kReasonHwThermal = 0x40;

// Errors of memory, and since when they are counted.
inline constexpr int kCorrected = 0;
inline constexpr int kUncorrected = 1;
inline constexpr int kVolatile = 0;
inline constexpr int kAggregate = 1;

inline constexpr int kPcieTransmit = 0;
inline constexpr int kPcieReceive = 1;

// Counters of an NVLink.
inline constexpr int kLinkReplay = 0;
inline constexpr int kLastLinkCounter = 4;

// What is at the other end of an NVLink.
inline constexpr int kRemoteGpu = 0;
inline constexpr int kRemoteSwitch = 2;
inline constexpr int kP2pNotSupported = 5;

inline constexpr unsigned kGpmVersion = 1;
inline constexpr unsigned kSmActive = 2;
inline constexpr unsigned kSmOccupancy = 3;

inline constexpr int kAncestorSelf = 0;
inline constexpr int kAncestorSwitch = 10;
inline constexpr int kAncestorNode = 40;
inline constexpr int kAncestorSystem = 50;

inline constexpr unsigned long long kEventDoubleBitEcc = 0x2;
inline constexpr unsigned long long kEventXid = 0x8;
inline constexpr unsigned kNoInstance = 0xFFFFFFFF;

}  // namespace gpu_sim::nvml
