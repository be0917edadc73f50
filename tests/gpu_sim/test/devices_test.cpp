// Which devices CUDA and NVML show, and that both speak of the same ones.
#include <array>
#include <cstring>
#include <set>

#include "tests/gpu_sim/test/nvml_library.hpp"
#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

int device_count() {
  int count = -1;
  expect_success(cudaGetDeviceCount(&count));
  return count;
}

std::string pci_address(int device) {
  std::array<char, 32> text{};
  expect_success(cudaDeviceGetPCIBusId(text.data(), text.size(), device));
  return text.data();
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  expect_success(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

TEST(Devices, AreEightOfOneKind) {
  ASSERT_EQ(device_count(), 8);
  std::set<std::string> uuids;
  std::set<std::string> addresses;
  for (int device = 0; device < 8; ++device) {
    cudaDeviceProp properties;
    expect_success(cudaGetDeviceProperties(&properties, device));
    EXPECT_STREQ(properties.name, "NVIDIA H100 80GB HBM3 (simulated)");
    EXPECT_EQ(properties.major, 9);
    EXPECT_EQ(properties.multiProcessorCount, 132);
    EXPECT_EQ(properties.l2CacheSize, 50 << 20);
    EXPECT_EQ(properties.totalGlobalMem, std::size_t{80} << 30);
    uuids.insert(std::string(properties.uuid.bytes, sizeof properties.uuid.bytes));
    addresses.insert(pci_address(device));
  }
  EXPECT_EQ(uuids.size(), 8U);
  EXPECT_EQ(addresses.size(), 8U);
  EXPECT_EQ(attribute(cudaDevAttrClockRate), 1'980'000);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 132);
  EXPECT_EQ(attribute(cudaDevAttrComputeMode), 0);
  EXPECT_EQ(attribute(cudaDevAttrUnifiedAddressing), 1);
  EXPECT_EQ(attribute(cudaDevAttrHostNumaId), 0);
}

TEST(Devices, NvmlFindsThemByUuidAndAddress) {
  const Nvml nvml;
  for (unsigned i = 0; i < 8; ++i) {
    const nvmlDevice_t device = nvml.device(i);
    const std::string address = pci_address(static_cast<int>(i));
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByPciBusId_v2", address.c_str(), &found), 0);
    EXPECT_EQ(found, device);
    const std::string uuid = nvml.text("nvmlDeviceGetUUID", device);
    EXPECT_EQ(uuid.size(), 40U);
    EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &found), 0);
    EXPECT_EQ(found, device);
    const auto pci = nvml.value<nvmlPciInfo_t>("nvmlDeviceGetPciInfo_v3", device);
    EXPECT_EQ(pci.busIdLegacy, address);
    EXPECT_EQ(pci.busId, "0000" + address);
  }
  nvmlDevice_t none = nullptr;
  EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByUUID", "GPU-no", &none), 6);
  EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByIndex_v2", 8U, &none), 2);
}

TEST(Devices, VersionsAndPeers) {
  int version = 0;
  expect_success(cudaDriverGetVersion(&version));
  EXPECT_EQ(version, 13000);
  expect_success(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
  int can = 0;
  expect_success(cudaDeviceCanAccessPeer(&can, 0, 7));
  EXPECT_EQ(can, 1);
  expect_success(cudaDeviceCanAccessPeer(&can, 3, 3));
  EXPECT_EQ(can, 0);
  expect_success(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(can, 1);
}

TEST(Devices, KernelsFitOntoThem) {
  int blocks = 0;
  expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_kernel(), 256, 0));
  EXPECT_EQ(blocks, 8);
  cudaFuncAttributes attributes{};
  expect_success(cudaFuncGetAttributes(&attributes, fill_kernel()));
  EXPECT_EQ(attributes.binaryVersion, 90);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &blocks), cudaErrorInvalidDeviceFunction);
}

TEST(Devices, ResetGivesAllBack) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* lost = nullptr;
  expect_success(cudaMemGetInfo(&before, &total));
  expect_success(cudaMalloc(&lost, 1000));
  expect_success(cudaDeviceReset());
  expect_success(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  EXPECT_EQ(cudaFree(lost), cudaErrorInvalidValue);
}

// CUDA_VISIBLE_DEVICES=3,1,9,0: the list ends at the first that there is not.
TEST(VisibleByIndex, InTheirOrder) {
  ASSERT_EQ(device_count(), 2);
  EXPECT_EQ(pci_address(0), "0000:61:00.0");
  EXPECT_EQ(pci_address(1), "0000:43:00.0");
  unsigned all = 0;
  EXPECT_EQ(Nvml().call("nvmlDeviceGetCount_v2", &all), 0);
  EXPECT_EQ(all, 8U);
}

// The beginning of GPU 2's UUID.
TEST(VisibleByUuid, ByTheirBeginning) {
  ASSERT_EQ(device_count(), 1);
  EXPECT_EQ(pci_address(0), "0000:52:00.0");
}

TEST(VisibleTwice, LeavesNone) {
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
}

// node1:2:gone
TEST(Gone, IsLostForNvmlAndUnknownToCuda) {
  ASSERT_EQ(device_count(), 7);
  EXPECT_EQ(pci_address(1), "0000:43:00.0");
  EXPECT_EQ(pci_address(2), "0000:61:00.0");
  const Nvml nvml;
  unsigned all = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetCount_v2", &all), 0);
  EXPECT_EQ(all, 8U);
  nvmlDevice_t lost = nullptr;
  EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByIndex_v2", 2U, &lost), 15);
  EXPECT_EQ(nvml.call("nvmlDeviceGetHandleByPciBusId_v2", "0000:52:00.0", &lost), 15);
  unsigned celsius = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetTemperature", lost, 0, &celsius), 15);
}

// *:0:compute_mode=prohibited;*:1:compute_mode=exclusive;*:3:mig
TEST(ComputeModes, AreSeenAndKept) {
  ASSERT_EQ(device_count(), 7);
  EXPECT_EQ(attribute(cudaDevAttrComputeMode), 2);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(pci_address(3), "0000:9D:00.0");
  const Nvml nvml;
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetComputeMode", nvml.device(0)), 2);
  EXPECT_EQ(nvml.value<int>("nvmlDeviceGetComputeMode", nvml.device(1)), 3);
  unsigned now = 0;
  unsigned then = 0;
  EXPECT_EQ(nvml.call("nvmlDeviceGetMigMode", nvml.device(3), &now, &then), 0);
  EXPECT_EQ(now, 1U);
}

TEST(NoDriver, NothingStarts) {
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
}

// node1:*:driver=12.2
TEST(OldDriver, IsNotEnough) {
  int count = -1;
  int version = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 12020);
  EXPECT_EQ(Nvml().call("nvmlSystemGetCudaDriverVersion_v2", &version), 0);
  EXPECT_EQ(version, 12020);
}

TEST(NoLibcuda, IsAsARealMachineWithoutADriver) {
  int count = -1;
  int version = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(count, -1);
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 0);
}

}  // namespace

}  // namespace gpu_sim_test
