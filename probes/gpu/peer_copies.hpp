// Copies between all GPUs of a node, one after another, by the method of nvbandwidth: each GPU,
// with a stream of its own, reads from and writes to the memory of each of its peers, and nothing
// else runs meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/copy_timer.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/gpu/peer_matrix.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::gpu {

struct Trouble {
  Status status = Status::failed;
  std::string reason;
};

struct FalseCopy {
  PeerCopy copy;
  std::string text;  // names both GPUs
};

struct PeerResults {
  std::vector<PeerRate> rates;  // of copies whose data are right
  std::vector<FalseCopy> false_copies;
  std::vector<std::optional<Trouble>> troubles;  // by GPU: why no more was measured with it
  // CUDA works no more in this process, so that not all was measured.
  std::optional<std::string> broken_off;
};

class PeerCopies {
 public:
  // Two buffers of `bytes`, a multiple of 4, on each. A GPU that does not give them is in trouble
  // and takes no part. Throws CudaError where CUDA works no more in this process.
  PeerCopies(const std::vector<GpuInfo>& gpus, std::size_t bytes, CopyPlan plan);

  PeerCopies(const PeerCopies&) = delete;
  PeerCopies& operator=(const PeerCopies&) = delete;

  std::size_t size() const { return gpus_.size(); }
  const Gpu& gpu(Place place) const { return gpus_[place]; }
  // Why they do not copy into each other's memory; nothing where they do.
  const std::optional<std::string>& why_no_peers(Place a, Place b) const;
  bool has_peers() const;

  PeerResults run();

 private:
  struct Side;

  void open_access(Place a, Place b);
  bool takes_part(Place place, const PeerResults& results) const;
  void measure(const PeerCopy& copy, PeerResults& results);
  void give_up(const PeerCopy& copy, Trouble trouble, PeerResults& results) const;
  std::string text_of(const PeerCopy& copy) const;

  std::vector<Gpu> gpus_;
  std::size_t bytes_;
  CopyPlan plan_;
  std::vector<std::shared_ptr<Side>> sides_;  // null: in trouble
  std::vector<std::optional<Trouble>> troubles_;
  std::vector<std::vector<std::optional<std::string>>> why_no_peers_;
};

}  // namespace fleetbench::gpu
