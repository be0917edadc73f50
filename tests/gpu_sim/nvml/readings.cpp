// Clocks, temperature, power and use: they follow how much the device worked of late.
#include <cmath>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

namespace {

// Below this the chip has turned its clock down.
constexpr double kIdleActivity = 0.2;

bool is_idle(const Device& device) { return device.activity() < kIdleActivity; }

double between(double idle, double busy, double activity) {
  return idle + (busy - idle) * activity;
}

unsigned sm_clock(const Device& device) {
  return is_idle(device)
             ? chip::kIdleSmClockMhz
             : static_cast<unsigned>(std::lround(chip::kSmClockMhz * device.faults().sm_clock));
}

unsigned full_clock(int clock) {
  require_nvml(clock >= kGraphicsClock && clock <= kVideoClock);
  return clock == kMemoryClock ? chip::kMemoryClockMhz : chip::kSmClockMhz;
}

unsigned long long reasons(const Device& device) {
  return device.faults().clock_reasons | (is_idle(device) ? kReasonIdle : 0);
}

double celsius(const Device& device) {
  const bool hot = (device.faults().clock_reasons & kReasonHwThermal) != 0;
  return between(chip::kIdleCelsius + device.index() % 4,
                 hot ? chip::kHotCelsius : chip::kBusyCelsius + device.index() % 4,
                 device.activity());
}

}  // namespace

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, int clock, unsigned* mhz) {
  return value_of(handle, mhz, [&](Device& device) {
    return clock == kMemoryClock ? full_clock(clock) : (full_clock(clock), sm_clock(device));
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t handle, int clock, unsigned* mhz) {
  return value_of(handle, mhz, [&](Device&) { return full_clock(clock); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t handle, int clock,
                                                        unsigned* mhz) {
  return value_of(handle, mhz, [&](Device&) { return full_clock(clock); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, int sensor,
                                                  unsigned* temperature) {
  return value_of(handle, temperature, [&](Device& device) {
    require_nvml(sensor == 0);
    return std::lround(celsius(device));
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned* milliwatt) {
  return value_of(handle, milliwatt, [](Device& device) {
    return between(chip::kIdleMilliwatt, chip::kBusyMilliwatt * device.faults().sm_clock,
                   device.activity());
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t handle, unsigned* milliwatt) {
  return value_of(handle, milliwatt, [](Device&) { return chip::kPowerLimitMilliwatt; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t handle,
                                                                  unsigned* milliwatt) {
  return value_of(handle, milliwatt, [](Device&) { return chip::kPowerLimitMilliwatt; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t handle,
                                                                unsigned long long* bits) {
  return value_of(handle, bits, reasons);
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t handle,
                                                                   unsigned long long* bits) {
  return value_of(handle, bits, reasons);
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle,
                                                       nvmlUtilization_t* rates) {
  return on_device(handle, [&](Device& device) {
    require_nvml(rates != nullptr);
    rates->gpu = static_cast<unsigned>(std::lround(100 * device.activity()));
    rates->memory = rates->gpu / 2;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  return on_device(handle, [&](Device& device) {
    require_nvml(memory != nullptr);
    memory->total = device.memory_bytes();
    memory->free = device.usable_bytes() - device.used_bytes;
    memory->used = memory->total - memory->free;
  });
}

}  // extern "C"
