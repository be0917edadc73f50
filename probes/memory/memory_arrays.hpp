// The three arrays that bandwidth is measured on, and the threads that do it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/support/machine_topology.hpp"
#include "probes/support/pages.hpp"
#include "probes/support/thread_team.hpp"

namespace fleetbench {

enum class MemoryKernel { copy, triad, read };

// A range of elements of each array.
struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};

// One thread a usable core, bound to it; arrays a, b and c, of which each thread owns a slice that
// it was the first to write, so that it lies on its core's NUMA node. The slices of a NUMA node's
// cores are side by side: its region. Uses the topology as long as it lives. Not to be moved; one
// thread.
class MemoryArrays {
 public:
  // Each array has at least `array_bytes`. Throws std::system_error without memory, threads or the
  // permission to bind them.
  MemoryArrays(const MachineTopology& topology, std::size_t array_bytes);

  std::size_t array_bytes() const { return arrays_[0].size(); }
  int threads() const { return team_.size(); }

  // Writes and reads back all three arrays, `rounds` times with a pattern and its complement.
  // Throws WrongResult that names the array, the place in it and the NUMA node of the thread.
  void check(int rounds);
  // The values that the kernels work on. Needed before the first of them.
  void fill();

  // All threads at once, each on its slice `iterations` times: seconds of each repetition. `read`
  // throws WrongResult where the elements' sum is false; check_sums() does so for the others.
  std::vector<double> time(MemoryKernel kernel, std::int64_t iterations, int repetitions);
  // The threads of one NUMA node read array a in another's region, or in their own, once in each
  // repetition. Both are places in topology.numa_nodes().
  std::vector<double> time_read_across(std::size_t reader, std::size_t owner, int repetitions);
  std::size_t region_bytes(std::size_t node) const;
  // After copy and triad: that their results stand in c and a.
  void check_sums();

  // Share of sampled pages that lie on another NUMA node than the core whose slice they are in: of
  // memory that was full, or placed by a policy that could not be changed. `nullopt` where the
  // kernel does not say.
  std::optional<double> misplaced_share() const;

  // For tests: array 0 to 2 as they stand.
  std::span<double> array(int index) {
    return arrays_[static_cast<std::size_t>(index)].as<double>();
  }

 private:
  struct Member {
    std::size_t node = 0;  // place in numa_nodes()
    int cpu = 0;
  };

  static std::vector<Member> members_of(const MachineTopology& topology);
  Slice slice_of(int thread) const;
  Slice region_of(std::size_t node) const;
  void check_own(int thread, int rounds);
  void run_own(int thread, MemoryKernel kernel, std::int64_t iterations) const;
  // "CPU 3 of NUMA node 0": whose slice it is or begins in.
  std::string home_of(const Slice& slice) const;
  double* at(int array, const Slice& slice) const;
  // Sums up a slice of one array, `iterations` times; throws WrongResult where a block of it does
  // not make `block_sum` on average.
  void read_slice(int array, const Slice& slice, double block_sum, std::int64_t iterations) const;

  const MachineTopology& topology_;
  std::vector<Member> members_;
  std::size_t slice_elements_;
  std::array<Pages, 3> arrays_;
  double a_block_sum_;  // changes once, with triad
  ThreadTeam team_;
};

}  // namespace fleetbench
