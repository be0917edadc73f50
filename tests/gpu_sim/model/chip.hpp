// The chip that is simulated: an H100 SXM, in round figures. Rates are what a good probe reaches,
// not what the data sheet promises.
#pragma once

#include <cstddef>

namespace gpu_sim::chip {

inline constexpr const char* kName = "NVIDIA H100 80GB HBM3 (simulated)";
inline constexpr int kMajor = 9;
inline constexpr int kMinor = 0;
inline constexpr int kMultiprocessors = 132;
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr std::size_t kSharedBytesPerBlock = 48 << 10;
inline constexpr std::size_t kSharedBytesPerBlockOptin = 227 << 10;
inline constexpr std::size_t kSharedBytesPerMultiprocessor = 228 << 10;
inline constexpr int kL2Bytes = 50 << 20;
inline constexpr std::size_t kMemoryBytes = std::size_t{80} << 30;
// What the driver keeps for itself of the memory.
inline constexpr std::size_t kReservedBytes = std::size_t{500} << 20;
inline constexpr int kMemoryBusBits = 5120;
inline constexpr unsigned kPciVendorAndDevice = 0x233010DE;
inline constexpr unsigned kPciSubsystem = 0x16C110DE;

inline constexpr int kSmClockMhz = 1980;
inline constexpr int kIdleSmClockMhz = 345;
inline constexpr int kMemoryClockMhz = 2619;
inline constexpr int kPowerLimitMilliwatt = 700'000;
inline constexpr int kIdleMilliwatt = 72'000;
inline constexpr int kBusyMilliwatt = 610'000;
inline constexpr int kIdleCelsius = 31;
inline constexpr int kBusyCelsius = 62;
// Where the hardware brakes for heat.
inline constexpr int kHotCelsius = 89;

inline constexpr int kPcieGeneration = 5;
inline constexpr int kPcieWidth = 16;
// Each way, at generation 5 and width 16, from page-locked memory; from other memory the copy goes
// through a buffer of the driver.
inline constexpr double kPcieBytesPerS = 55e9;
inline constexpr double kPageableBytesPerS = 11e9;
inline constexpr int kNvlinks = 18;
inline constexpr unsigned kNvlinkVersion = 4;
inline constexpr double kPeerBytesPerS = 370e9;
// Between GPUs that no NVLink joins.
inline constexpr double kPciePeerBytesPerS = 42e9;
// 92 % of 3.35 TB/s.
inline constexpr double kMemoryBytesPerS = 3.35e12 * 0.92;
// Words that the kernels can mix, which is arithmetic and goes with the SM clock. At this rate four
// bytes a word are less than the memory could write.
inline constexpr double kMixedWordsPerS = 0.65e12;

// Dense peak, and how much of it a good algorithm reaches.
inline constexpr double kFp32FlopPerS = 67e12;
inline constexpr double kTf32FlopPerS = 494e12;
inline constexpr double kFp16FlopPerS = 989e12;
inline constexpr double kFp8FlopPerS = 1979e12;
inline constexpr double kGemmEfficiency = 0.75;

// Fixed parts: what an operation takes beside its bytes or its arithmetic, and what a call and the
// return from waiting take on the host.
inline constexpr double kCopyNs = 1200;
inline constexpr double kKernelNs = 2000;
inline constexpr double kGemmNs = 3000;
inline constexpr double kCallNs = 1500;
inline constexpr double kWakeNs = 6000;

// Standard deviations: between GPUs, and between repetitions on one.
inline constexpr double kBetweenGpus = 0.005;
inline constexpr double kBetweenRepetitions = 0.003;

}  // namespace gpu_sim::chip
