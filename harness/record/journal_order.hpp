// What must not come twice or too late in a journal, beyond what add_record() checks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "results-schema/run.hpp"

namespace fleetbench::record {

class JournalOrder {
 public:
  // Throws std::invalid_argument where the record contradicts those before: a slot that is over,
  // the same sample of a slot again, a rank that was lost before, anything but a
  // resumption after the end.
  void admit(const Record& record);

 private:
  void admit_sample(const SampleRecord& sample);

  using Subject =
      std::tuple<int, int, std::string, std::optional<int>>;  // step, node, device, peer
  std::optional<int> slot_;
  std::set<int> slots_;  // that have begun
  std::set<Subject> of_slot_;
  std::set<std::pair<std::optional<int>, int>> losses_;  // rank and node
  bool ended_ = false;
};

}  // namespace fleetbench::record
