// The distributions that scores are thought to follow: Student's t of many degrees of freedom and
// some scales. What each says is needed for every metric of every run, and comes from tables.
#pragma once

#include <array>
#include <vector>

namespace fleetbench::detect {

// P(T > t) of Student's t with one number of degrees.
class StudentCurve {
 public:
  explicit StudentCurve(double degrees);
  double degrees() const { return degrees_; }
  // As student_tail(), within a millionth of itself times the square of t.
  double tail(double t) const;

 private:
  struct Knot {
    double log_tail = 0;
    double slope = 0;  // by the logarithm of t
  };
  double degrees_;
  std::vector<Knot> knots_;
};

// How many scores there are of about which size, of those that count: what is slow by more than
// 3.5 may be a fault; what is fast by as much is not, up to 6, and shows how long the tails are.
class ScoreHistogram {
 public:
  static constexpr std::size_t kBins = 250;
  struct Bin {
    std::size_t number = 0;
    double count = 0;
  };

  explicit ScoreHistogram(const std::vector<double>& scores);
  const std::vector<Bin>& bins() const { return bins_; }  // that hold any

 private:
  std::vector<Bin> bins_;
};

class TailShape {
 public:
  // `step`: of the scale, in standard deviations about that of variance 1.
  TailShape(const StudentCurve& curve, double step);
  double degrees() const { return curve_->degrees(); }
  double tail(double z) const { return curve_->tail(z / scale_); }
  // That of scores between the cuts, and of the scale.
  double log_likelihood(const ScoreHistogram& scores) const;

 private:
  const StudentCurve* curve_;
  double scale_;
  double log_prior_;
  std::array<double, ScoreHistogram::kBins> log_densities_{};
};

// By place in tail_grid().
inline constexpr std::size_t kTailScales = 7;
const std::vector<std::vector<TailShape>>& tail_shapes();

}  // namespace fleetbench::detect
