#include "harness/detect/tail_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/student.hpp"
#include "harness/detect/tails.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kSlowCut = 3.5;
constexpr double kFastCut = 6;
constexpr double kBinWidth = (kFastCut + kSlowCut) / static_cast<double>(ScoreHistogram::kBins);

// Knots of a curve: from t = 1 on, evenly over log t.
constexpr double kKnotDistance = 0.05;
constexpr std::size_t kKnots = 84;  // up to t = 63

// The spread that scores are in units of is estimated, and without what lies far out.
constexpr double kScaleLogSigma = 0.07;
constexpr std::array<double, kTailScales> kScaleSteps{-2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25};

// Of a t with variance 1.
double scale_of(double degrees) { return std::sqrt((degrees - 2) / degrees); }

}  // namespace

StudentCurve::StudentCurve(double degrees) : degrees_(degrees) {
  for (std::size_t k = 0; k < kKnots; ++k) {
    const double t = std::exp(kKnotDistance * static_cast<double>(k));
    const double p = student_tail(t, degrees);
    knots_.push_back({std::log(p), -t * student_density(t, degrees) / p});
  }
}

// Cubic Hermite interpolation.
double StudentCurve::tail(double t) const {
  const double place = t > 1 ? std::log(t) / kKnotDistance : -1;
  if (place < 0 || place >= static_cast<double>(kKnots - 1)) {
    return student_tail(t, degrees_);
  }
  const auto k = static_cast<std::size_t>(place);
  const double s = place - static_cast<double>(k);
  const Knot& low = knots_[k];
  const Knot& high = knots_[k + 1];
  const double rise = high.log_tail - low.log_tail;
  const double a = kKnotDistance * low.slope - rise;
  const double b = rise - kKnotDistance * high.slope;
  return std::exp(low.log_tail + s * rise + s * (1 - s) * ((1 - s) * a + s * b));
}

ScoreHistogram::ScoreHistogram(const std::vector<double>& scores) {
  std::array<double, kBins> counts{};
  for (const double score : scores) {
    if (score > -kFastCut && score < kSlowCut) {
      const auto bin = static_cast<std::size_t>((score + kFastCut) / kBinWidth);
      counts[std::min(bin, kBins - 1)] += 1;
    }
  }
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (counts[bin] > 0) {
      bins_.push_back({bin, counts[bin]});
    }
  }
}

TailShape::TailShape(const StudentCurve& curve, double step)
    : curve_(&curve),
      scale_(scale_of(curve.degrees()) * std::exp(kScaleLogSigma * step)),
      log_prior_(-0.5 * step * step) {
  const double degrees = curve.degrees();
  const double inside =
      1 - student_tail(kFastCut / scale_, degrees) - student_tail(kSlowCut / scale_, degrees);
  const double log_highest = std::log(student_density(0, degrees) / (scale_ * inside));
  for (std::size_t bin = 0; bin < log_densities_.size(); ++bin) {
    const double x = ((static_cast<double>(bin) + 0.5) * kBinWidth - kFastCut) / scale_;
    log_densities_[bin] = log_highest - 0.5 * (degrees + 1) * std::log1p(x * x / degrees);
  }
}

double TailShape::log_likelihood(const ScoreHistogram& scores) const {
  double sum = log_prior_;
  for (const ScoreHistogram::Bin& bin : scores.bins()) {
    sum += bin.count * log_densities_[bin.number];
  }
  return sum;
}

const std::vector<std::vector<TailShape>>& tail_shapes() {
  static const std::vector<StudentCurve> curves(tail_grid().begin(), tail_grid().end());
  static const std::vector<std::vector<TailShape>> shapes = [] {
    std::vector<std::vector<TailShape>> result;
    for (const StudentCurve& curve : curves) {
      auto& of_place = result.emplace_back();
      for (const double step : kScaleSteps) {
        of_place.emplace_back(curve, step);
      }
    }
    return result;
  }();
  return shapes;
}

}  // namespace fleetbench::detect
