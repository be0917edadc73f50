// What NVML reads, healthy and not.
#include "tests/gpu_sim/test/nvml_library.hpp"
#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr unsigned long long kIdle = 0x1;

void work(int gpu) {
  expect_success(cudaSetDevice(gpu));
  const DeviceArray<std::uint32_t> data(1000);
  launch_fill(data.get(), 1000, 1, nullptr);
  expect_success(cudaDeviceSynchronize());
}

TEST(NvmlHealthy, ReadingsFollowTheWork) {
  const Nvml nvml;
  const nvmlDevice_t device = nvml.device(0);
  const auto cold = nvml.value<unsigned>("nvmlDeviceGetTemperature", device, 0);
  const auto little = nvml.value<unsigned>("nvmlDeviceGetPowerUsage", device);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetClockInfo", device, kSmClock), 345U);
  EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons", device),
            kIdle);
  work(0);
  EXPECT_GT(nvml.value<unsigned>("nvmlDeviceGetTemperature", device, 0), cold + 20);
  EXPECT_GT(nvml.value<unsigned>("nvmlDeviceGetPowerUsage", device), 4 * little);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetClockInfo", device, kSmClock), 1980U);
  EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", device),
            0U);
  EXPECT_GT(nvml.value<nvmlUtilization_t>("nvmlDeviceGetUtilizationRates", device).gpu, 90U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetClockInfo", nvml.device(1), kSmClock), 345U);
}

TEST(NvmlHealthy, FixedFigures) {
  const Nvml nvml;
  const nvmlDevice_t device = nvml.device(0);
  EXPECT_EQ(nvml.text("nvmlDeviceGetName", device), "NVIDIA H100 80GB HBM3 (simulated)");
  EXPECT_EQ(nvml.text("nvmlDeviceGetSerial", device).size(), 13U);
  EXPECT_FALSE(nvml.text("nvmlDeviceGetVbiosVersion", device).empty());
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetMaxClockInfo", device, kSmClock), 1980U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetApplicationsClock", device, kMemoryClock), 2619U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetEnforcedPowerLimit", device), 700'000U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetPowerManagementDefaultLimit", device), 700'000U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration", device), 5U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", device), 5U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkWidth", device), 16U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", device), 16U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetPcieReplayCounter", device), 0U);
  nvml.value<unsigned>("nvmlDeviceGetPcieThroughput", device, 0);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetPersistenceMode", device), 1);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetComputeMode", device), 0);
  int now = 0;
  int then = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetEccMode", device, &now, &then), 0);
  EXPECT_EQ(now, 1);
  char version[80];
  EXPECT_EQ(nvml.call("nvmlSystemGetDriverVersion", static_cast<char*>(version), 80U), 0);
  EXPECT_STREQ(version, "580.65.06");
  EXPECT_EQ(nvml.call("nvmlSystemGetNVMLVersion", static_cast<char*>(version), 3U), 7);
}

TEST(NvmlHealthy, LinksAndPlaces) {
  const Nvml nvml;
  const nvmlDevice_t device = nvml.device(0);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetNvLinkState", device, 17U), 1);
  int state = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetNvLinkState", device, 18U, &state), 2);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetNvLinkVersion", device, 0U), 4U);
  EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetNvLinkErrorCounter", device, 0U, 0), 0U);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetTopologyCommonAncestor", device, nvml.device(1)), 40);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetP2PStatus", device, nvml.device(1), 0), 0);
  unsigned long nodes = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetMemoryAffinity", device, 1U, &nodes, 0), 0);
  EXPECT_EQ(nodes, 1UL);
  unsigned long processors[16] = {};
  EXPECT_EQ(
      nvml.call("nvmlDeviceGetCpuAffinity", device, 16U, static_cast<unsigned long*>(processors)),
      0);
  EXPECT_NE(processors[0], 0UL);
}

TEST(NvmlHealthy, MemoryInUse) {
  const Nvml nvml;
  const auto before = nvml.value<nvmlMemory_t>("nvmlDeviceGetMemoryInfo", nvml.device(0));
  const DeviceArray<std::byte> memory(12345678);
  const auto with = nvml.value<nvmlMemory_t>("nvmlDeviceGetMemoryInfo", nvml.device(0));
  EXPECT_EQ(with.used - before.used, 12345678U);
  EXPECT_EQ(with.used + with.free, with.total);
}

TEST(NvmlHealthy, NoEventsAndNoSession) {
  nvmlEventSet_t set = nullptr;
  nvmlEventData_t data{};
  {
    const Nvml nvml;
    EXPECT_EQ(nvml.call("nvmlEventSetCreate", &set), 0);
    EXPECT_EQ(nvml.call("nvmlDeviceRegisterEvents", nvml.device(0), 8ULL, set), 0);
    EXPECT_EQ(nvml.call("nvmlEventSetWait_v2", set, &data, 1U), 10);
    EXPECT_EQ(nvml.call("nvmlEventSetFree", set), 0);
    EXPECT_EQ(nvml.call("nvmlEventSetFree", set), 2);
  }
  // Opened once more, so that the library stays while its session ends.
  const Nvml library;
  EXPECT_EQ(library.call("nvmlShutdown"), 0);
  unsigned count = 0;
  EXPECT_EQ(library.call("nvmlDeviceGetCount_v2", &count), 1);
  EXPECT_EQ(library.call("nvmlInit_v2"), 0);
}

// node1:0:ecc=7,xid=79
TEST(BadMemory, ErrorsRowsAndAnEvent) {
  const Nvml nvml;
  const nvmlDevice_t device = nvml.device(0);
  for (const int since : {0, 1}) {
    EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetTotalEccErrors", device, 1, since), 7U);
    EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetTotalEccErrors", device, 0, since), 0U);
  }
  unsigned corrected = 1;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failed = 1;
  EXPECT_EQ(
      nvml.call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending, &failed),
      0);
  EXPECT_EQ(uncorrected, 7U);
  EXPECT_EQ(pending, 1U);
  nvmlEventSet_t set = nullptr;
  nvmlEventData_t data{};
  EXPECT_EQ(nvml.call("nvmlEventSetCreate", &set), 0);
  EXPECT_EQ(nvml.value<unsigned long long>("nvmlDeviceGetSupportedEventTypes", device) & 8U, 8U);
  EXPECT_EQ(nvml.call("nvmlDeviceRegisterEvents", device, 8ULL, set), 0);
  EXPECT_EQ(nvml.call("nvmlEventSetWait_v2", set, &data, 1U), 0);
  EXPECT_EQ(data.device, device);
  EXPECT_EQ(data.eventType, 8U);
  EXPECT_EQ(data.eventData, 79U);
  EXPECT_EQ(nvml.call("nvmlEventSetWait_v2", set, &data, 1U), 10);
  EXPECT_EQ(nvml.call("nvmlEventSetFree", set), 0);
}

// node1:0:sm_clock=0.7,throttle=hw_thermal;node1:1:throttle=sw_power;node1:2:pcie_width=8,pcie_gen=3;
// node1:3:peer=5:0.5
TEST(NvmlFaults, AreSeen) {
  const Nvml nvml;
  work(0);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetClockInfo", nvml.device(0), kSmClock), 1386U);
  EXPECT_GT(nvml.value<unsigned>("nvmlDeviceGetTemperature", nvml.device(0), 0), 80U);
  const char* reasons = "nvmlDeviceGetCurrentClocksEventReasons";
  EXPECT_EQ(nvml.value<unsigned long long>(reasons, nvml.device(0)), 0x48U);
  work(1);
  EXPECT_EQ(nvml.value<unsigned long long>(reasons, nvml.device(1)), 0x4U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkWidth", nvml.device(2)), 8U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration", nvml.device(2)), 3U);
  EXPECT_EQ(nvml.value<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", nvml.device(2)), 16U);
  EXPECT_GT(
      nvml.value<unsigned long long>("nvmlDeviceGetNvLinkErrorCounter", nvml.device(3), 0U, 0), 0U);
}

// FLEETBENCH_GPU_SIM_NUMA_NODES=2
TEST(NumaNodes, ShareTheGpus) {
  const Nvml nvml;
  unsigned long nodes = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetMemoryAffinity", nvml.device(7), 1U, &nodes, 0), 0);
  EXPECT_EQ(nodes, 2UL);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetTopologyCommonAncestor", nvml.device(3), nvml.device(4)),
            50);
}

}  // namespace

}  // namespace gpu_sim_test
