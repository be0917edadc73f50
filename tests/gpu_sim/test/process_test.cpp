// What concerns whole processes: how they end, what they leave, how two of them share a device.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/gpu_sim/test/gemm.hpp"
#include "tests/gpu_sim/test/nvml_library.hpp"
#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

// Runs `work` in a child that then ends as programs do, and returns how it ended.
template <typename Work, typename Meanwhile>
int status_of_child(Work work, Meanwhile meanwhile) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::exit(0);
  }
  meanwhile(child);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void leak_one_of_each() {
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cudaMalloc(&memory, 1);
  cudaMalloc(&memory, 1);
  cudaMallocHost(&memory, 1);
  cudaStreamCreate(&stream);
  cudaEventCreateWithFlags(&event, cudaEventDefault);
  cublasLtMatmulPreferenceCreate(&preference);
}

// FLEETBENCH_GPU_SIM_LEAKS names a file of the build folder.
TEST(Leaks, AreWrittenDown) {
  const std::string file = std::getenv("FLEETBENCH_GPU_SIM_LEAKS");
  std::remove(file.c_str());
  status_of_child([] {}, [](pid_t) {});
  EXPECT_EQ(content(file), "");
  status_of_child(leak_one_of_each, [](pid_t) {});
  const std::string leaks = content(file);
  for (const char* kind : {"2 device allocations", "1 page-locked allocation", "1 stream",
                           "1 event", "1 matmul preference"}) {
    EXPECT_NE(leaks.find(kind), std::string::npos) << kind << " in " << leaks;
  }
  std::remove(file.c_str());
}

template <typename Work>
void expect_to_hang_until(int signal, Work work) {
  const int status = status_of_child(work, [&](pid_t child) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
    kill(child, signal);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), signal);
}

// node1:0:hang=copy@2
TEST(Hang, NeverEndsAndCanBeKilled) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    expect_to_hang_until(signal, [] {
      const DeviceArray<std::byte> device(100);
      const PinnedArray<std::byte> host(100);
      cudaMemcpy(device.get(), host.get(), 100, cudaMemcpyHostToDevice);
      cudaMemcpy(device.get(), host.get(), 100, cudaMemcpyHostToDevice);
    });
  }
}

// node1:0:hang=launch
TEST(HangingKernel, NeverEnds) {
  expect_to_hang_until(SIGTERM, [] {
    const DeviceArray<std::uint32_t> data(100);
    launch_fill(data.get(), 100, 1, nullptr);
    cudaDeviceSynchronize();
  });
}

// *:0:compute_mode=exclusive
TEST(Exclusive, KeepsASecondProcessOut) {
  const int alone = status_of_child([] { std::exit(cudaSetDevice(0)); }, [](pid_t) {});
  EXPECT_EQ(WEXITSTATUS(alone), 0);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  // A program of its own, which does not inherit what this one has.
  const int second = status_of_child(
      [] { execl("/proc/self/exe", "gpu_sim_test", "--gtest_filter=SecondProcess.*", nullptr); },
      [](pid_t) {});
  EXPECT_TRUE(WIFEXITED(second));
  EXPECT_EQ(WEXITSTATUS(second), 0);
}

TEST(SecondProcess, IsKeptOut) { EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable); }

TEST(DeviceMemory, CannotBeReadByTheHost) {
  const DeviceArray<int> memory(1);
  const int status =
      status_of_child([&] { std::exit(*static_cast<volatile int*>(memory.get())); }, [](pid_t) {});
  EXPECT_TRUE(WIFSIGNALED(status));
}

// What a small program's work takes, with a host that is as slow as it says, each in a child.
double seconds_with_pauses(const std::string& file, std::chrono::milliseconds pause) {
  const int status = status_of_child(
      [&] {
        const PinnedArray<std::byte> host(1 << 20);
        const DeviceArray<std::byte> device(1 << 20);
        const double s = seconds_of([&](cudaStream_t stream) {
          for (int i = 0; i < 4; ++i) {
            cudaMemcpyAsync(device.get(), host.get(), 1 << 20, cudaMemcpyHostToDevice, stream);
            std::this_thread::sleep_for(pause);
          }
        });
        std::ofstream(file) << std::hexfloat << s;
      },
      [](pid_t) {});
  EXPECT_EQ(status, 0);
  return std::strtod(content(file).c_str(), nullptr);
}

// FLEETBENCH_TEST_FILE names a file of the build folder.
TEST(Determinism, TimesDoNotDependOnThisMachine) {
  const std::string file = std::getenv("FLEETBENCH_TEST_FILE");
  const double quick = seconds_with_pauses(file, std::chrono::milliseconds(0));
  EXPECT_GT(quick, 0);
  EXPECT_EQ(quick, seconds_with_pauses(file, std::chrono::milliseconds(5)));
  std::remove(file.c_str());
}

TEST(SessionWithoutDriver, IsRefused) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto init = reinterpret_cast<nvmlReturn_t (*)()>(dlsym(library, "nvmlInit_v2"));
  EXPECT_EQ(init(), 9);
  dlclose(library);
}

}  // namespace

}  // namespace gpu_sim_test
