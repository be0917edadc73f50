// What the program opened and did not close.
#pragma once

#include <map>
#include <string>

namespace gpu_sim {

class Ledger {
 public:
  void opened(const std::string& kind, long count = 1) { open_[kind] += count; }
  void closed(const std::string& kind) { --open_[kind]; }

  // "2 device allocations, 1 stream"; empty where all was closed.
  std::string text() const {
    std::string all;
    for (const auto& [kind, count] : open_) {
      if (count != 0) {
        all += (all.empty() ? "" : ", ") + std::to_string(count) + " " + kind +
               (count == 1 ? "" : "s");
      }
    }
    return all;
  }

 private:
  std::map<std::string, long> open_;
};

}  // namespace gpu_sim
