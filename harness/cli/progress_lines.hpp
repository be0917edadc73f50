// Tells a person on standard error how far a run is: one line that changes on a terminal, a plain
// line now and then elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/fleet/observers.hpp"

namespace fleetbench::cli {

class ProgressLines : public fleet::Progress {
 public:
  ProgressLines();
  ~ProgressLines() override;
  void slot(int number, int count, const std::string& what) override;
  void waiting_for(const std::vector<std::string>& nodes) override;
  void note(const std::string& text) override;

 private:
  void show(const std::string& text);
  void wipe();

  bool live_;
  bool shown_ = false;
  std::string last_;
  std::chrono::steady_clock::time_point last_plain_{};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fleetbench::cli
