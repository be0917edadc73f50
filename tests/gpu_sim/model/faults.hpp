// What is wrong with one simulated GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpu_sim {

// As NVML numbers them.
enum class ComputeMode : int { shared = 0, prohibited = 2, exclusive = 3 };

struct Faults {
  // Factors on rates.
  double sm_clock = 1;
  double memory = 1;
  double h2d = 1;
  double d2h = 1;
  std::map<int, double> peer;  // on copies from this GPU to that one
  bool no_peers = false;       // no other GPU reaches its memory, nor it theirs
  int nvlinks_down = 0;
  int pcie_width = 16;
  int pcie_generation = 5;
  std::uint64_t clock_reasons = 0;  // bits as in NVML
  double nvlink = 1;
  double nic_send = 1;
  double nic_receive = 1;
  std::map<std::string, double> link;  // from the node of this GPU to that one

  // From which operation on, counting from 1.
  std::optional<std::uint64_t> wrong_gemm;
  std::optional<std::uint64_t> wrong_copy;
  std::optional<std::uint64_t> sticky_launch;
  std::optional<std::uint64_t> hang_copy;
  std::optional<std::uint64_t> hang_launch;

  // Of NCCL. From which call of a function on a result is wrong; which call never ends; which one
  // is refused.
  enum class Init { works, fails, hangs };
  Init nccl_init = Init::works;
  double nccl_late_s = 0;
  std::map<std::string, std::uint64_t> nccl_wrong;
  std::map<std::string, std::uint64_t> nccl_hang;
  std::map<std::string, std::uint64_t> nccl_refuse;

  std::uint64_t uncorrected_errors = 0;
  std::optional<std::uint64_t> xid;
  std::optional<std::size_t> memory_bytes;
  ComputeMode compute_mode = ComputeMode::shared;
  bool gone = false;
  bool mig = false;

  // Of the whole node.
  bool no_driver = false;
  bool no_libcuda = false;
  std::optional<int> driver_version;  // as CUDA numbers them: 12020
};

struct BadSetting : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What `rules`, as described in README.md, says of GPU `gpu` of `node`, which has `gpus`. Throws
// BadSetting that names what is wrong, be it in a rule for another GPU.
Faults faults_of(std::string_view rules, std::string_view node, int gpu, int gpus);

}  // namespace gpu_sim
