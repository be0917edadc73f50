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

TEST(NvmlHealthy, LinksLeadToSwitches) {
  const Nvml nvml;
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetNvLinkRemoteDeviceType", nvml.device(0), 17U), 2);
  nvmlPciInfo_t remote{};
  EXPECT_EQ(nvml.call("nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.device(0), 0U, &remote), 3);
}

TEST(NvmlHealthy, ActivityOfMultiprocessors) {
  const Nvml nvml;
  const nvmlDevice_t device = nvml.device(0);
  nvmlGpmSupport_t support{.version = 1, .isSupportedDevice = 0};
  EXPECT_EQ(nvml.call("nvmlGpmQueryDeviceSupport", device, &support), 0);
  EXPECT_EQ(support.isSupportedDevice, 1U);
  support.version = 2;
  EXPECT_EQ(nvml.call("nvmlGpmQueryDeviceSupport", device, &support), 25);
  nvmlGpmMetricsGet_t asked{
      .version = 1, .numMetrics = 3, .sample1 = {}, .sample2 = {}, .metrics = {}};
  EXPECT_EQ(nvml.call("nvmlGpmSampleAlloc", &asked.sample1), 0);
  EXPECT_EQ(nvml.call("nvmlGpmSampleAlloc", &asked.sample2), 0);
  EXPECT_EQ(nvml.call("nvmlGpmMetricsGet", &asked), 2) << "nothing was read into them";
  EXPECT_EQ(nvml.call("nvmlGpmSampleGet", device, asked.sample1), 0);
  work(0);
  EXPECT_EQ(nvml.call("nvmlGpmSampleGet", device, asked.sample2), 0);
  asked.metrics[0].metricId = 2;
  asked.metrics[1].metricId = 3;
  asked.metrics[2].metricId = 98;
  EXPECT_EQ(nvml.call("nvmlGpmMetricsGet", &asked), 0);
  EXPECT_GT(asked.metrics[0].value, 90);
  EXPECT_LE(asked.metrics[0].value, 100);
  EXPECT_LT(asked.metrics[1].value, asked.metrics[0].value);
  EXPECT_EQ(asked.metrics[2].nvmlReturn, 3);
  EXPECT_EQ(nvml.call("nvmlGpmSampleFree", asked.sample1), 0);
  EXPECT_EQ(nvml.call("nvmlGpmSampleFree", asked.sample1), 2);
  EXPECT_EQ(nvml.call("nvmlGpmSampleFree", asked.sample2), 0);
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

// node1:0:nvlinks_down=2;node1:1:no_peers
TEST(NvmlLinks, DownAndNoPeers) {
  const Nvml nvml;
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetNvLinkState", nvml.device(0), 15U), 1);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetNvLinkState", nvml.device(0), 16U), 0);
  int end = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetNvLinkRemoteDeviceType", nvml.device(0), 16U, &end), 3);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetP2PStatus", nvml.device(0), nvml.device(1), 0), 5);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetP2PStatus", nvml.device(0), nvml.device(2), 0), 0);
}

// FLEETBENCH_GPU_SIM_NVLINK=bridges
TEST(NvmlBridges, JoinNeighbours) {
  const Nvml nvml;
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetNvLinkRemoteDeviceType", nvml.device(2), 0U), 0);
  const auto remote =
      nvml.value<nvmlPciInfo_t>("nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.device(2), 0U);
  const auto neighbour = nvml.value<nvmlPciInfo_t>("nvmlDeviceGetPciInfo_v3", nvml.device(3));
  EXPECT_STREQ(static_cast<const char*>(remote.busId), static_cast<const char*>(neighbour.busId));
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetTopologyCommonAncestor", nvml.device(2), nvml.device(3)),
            10);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetTopologyCommonAncestor", nvml.device(1), nvml.device(2)),
            40);
}

// FLEETBENCH_GPU_SIM_NVLINK=none
TEST(NvmlPcie, HasNoLinks) {
  const Nvml nvml;
  int state = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetNvLinkState", nvml.device(0), 0U, &state), 3);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetTopologyCommonAncestor", nvml.device(0), nvml.device(1)),
            10);
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
