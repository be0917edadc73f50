// Means with their Monte-Carlo errors, and what must hold of them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace fleetbench::bench {

class Tally {
 public:
  // Each fleet weighs as much as `weight` says, say the number of its faults.
  void add(double value, double weight = 1) {
    count_ += weight;
    sum_ += value * weight;
    squares_ += value * value * weight;
  }
  bool empty() const { return count_ <= 0; }
  double count() const { return count_; }
  double mean() const { return empty() ? 0 : sum_ / count_; }
  double error() const {
    return empty() ? 0 : std::sqrt(std::max(0.0, squares_ / count_ - mean() * mean()) / count_);
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

// Collects claims that have to hold in every cell and says at the end which do.
class Acceptance {
 public:
  // `over` says how far the value is beyond what is allowed (under 0: not at all), in shares, and
  // `error` how uncertain that is. A claim fails where a cell is beyond by more than three errors,
  // or all cells together by more than two.
  void add(const std::string& claim, const std::string& where, double over, double error);
  void skip(const std::string& claim, const std::string& why);
  // Prints a line a claim; false where one failed.
  bool print() const;

 private:
  struct Cell {
    std::string where;
    double over = 0;
    double error = 0;
  };
  struct Claim {
    std::string text;
    std::vector<Cell> cells;
    std::string skipped;
  };
  Claim& claim(const std::string& text);
  static bool holds(const Claim& claim);
  std::vector<Claim> claims_;
};

}  // namespace fleetbench::bench
