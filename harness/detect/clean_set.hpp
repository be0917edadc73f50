// The subjects of a cohort that look alike, and what they say about centre and spread.
#pragma once

#include <span>
#include <vector>

namespace fleetbench::detect {

// What is expected of a variance before looking: `variance`, worth `degrees` degrees of freedom.
struct Prior {
  double variance = 0;
  double degrees = 0;
};

struct Spread {
  double centre = 0;
  double variance = 0;         // of one subject, the prior mixed in
  double degrees = 0;          // of that variance, the prior's included
  double centre_variance = 0;  // in units of one subject's variance
};

struct CleanRules {
  double least_variance = 0;  // nothing smaller is believed
  double fitted = 0;          // parameters of the model whose residuals the values are
  bool fixed_centre = false;  // the centre is 0 and the values do not tell the spread
};

// Starts from the three quarters of the values that lie closest together and grows while the next
// value, on either side, is one that a normal fleet shows in nine of ten cases, so that several
// outliers do not mask each other. N log N.
class CleanSet {
 public:
  CleanSet(std::span<const double> values, const CleanRules& rules, const Prior& prior);

  bool contains(std::size_t i) const { return rank_[i] >= low_ && rank_[i] < high_; }
  std::size_t size() const { return high_ - low_; }
  // What the members say; without(i): the others, where i is one.
  Spread all() const { return spread(size(), sum(), squares(), 1); }
  Spread without(std::size_t i) const;

 private:
  void grow();
  bool extend(const Spread& spread);
  double sum() const { return sums_[high_] - sums_[low_]; }
  double squares() const { return squares_[high_] - squares_[low_]; }
  // `inflation`: by what the variance of a truncated set is too small.
  Spread spread(std::size_t size, double sum, double squares, double inflation) const;

  CleanRules rules_;
  Prior prior_;
  double origin_ = 0;  // the median; sums are of distances from it, else they would cancel
  std::vector<double> sorted_;
  std::vector<std::size_t> rank_;  // place of value i in sorted_
  std::vector<double> sums_;       // of sorted_, up to each place
  std::vector<double> squares_;
  std::size_t low_ = 0;
  std::size_t high_ = 0;
};

}  // namespace fleetbench::detect
