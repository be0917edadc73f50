// What the environment says of NCCL and of the network, beside what is of a GPU (model/faults.hpp).
#pragma once

#include <map>
#include <string>

namespace gpu_sim::nccl {

struct NcclSettings {
  std::string version;                         // 2.28.9
  std::string network;                         // as its log names it: IB, Socket
  std::map<std::string, std::string> leaves;   // of each node that hangs on one
  std::map<std::string, double> leaf_factors;  // of those that are slow

  int version_code() const;  // 22809
  // Empty where none is named.
  std::string leaf_of(const std::string& node) const;
  double factor_of(const std::string& leaf) const;
};

// Read when the library is loaded. A setting that cannot be read ends the process with a message.
const NcclSettings& nccl_settings();

}  // namespace gpu_sim::nccl
