#include "harness/record/nccl_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "results-schema/collective_rule.hpp"

namespace fleetbench::record {
namespace {

// How the rows of each program look; source: nccl-tests, src/*.cu. `adds`: with a redop but "none".
struct Looks {
  std::string_view program;
  bool adds;
  bool has_root;
  bool checked_in_place;
};
constexpr std::array kLooks = std::to_array<Looks>({
    {"all_reduce", true, false, true},
    {"reduce_scatter", true, false, true},
    {"reduce", true, true, true},
    {"all_gather", false, false, true},
    {"broadcast", false, true, true},
    {"gather", false, true, true},
    {"scatter", false, true, true},
    {"alltoall", false, false, false},
    {"sendrecv", true, false, false},
});

// Bandwidths are printed with two places at most.
constexpr double kHalfStep_GB_s = 0.005;

bool agrees(const NcclFigure& figure, double factor) {
  return std::abs(figure.busbw_GB_s - figure.algbw_GB_s * factor) <=
         kHalfStep_GB_s * (1.01 + factor) + 1e-3 * figure.busbw_GB_s;
}

bool may_be(const NcclRun& run, const Looks& looks) {
  const auto factor = nccl_busbw_factor(looks.program, run.nranks());
  return std::ranges::all_of(run.rows, [&](const NcclRow& row) {
    const bool adds = !row.redop.empty() && row.redop != "none";
    const bool checks = row.out_of_place.wrong.has_value();
    return adds == looks.adds && (row.root.value_or(-1) >= 0) == looks.has_root &&
           (!checks || row.in_place.wrong.has_value() == looks.checked_in_place) &&
           agrees(row.out_of_place, *factor) && agrees(row.in_place, *factor);
  });
}

// Half of the last digit; source: getFloatStr() and its forerunners in nccl-tests' src/common.cu.
double half_step_us(double time_us) {
  if (time_us < 100) {
    return 0.005;
  }
  if (time_us < 1e4) {
    return 0.05;
  }
  return time_us < 1e7 ? 0.5 : 0.05 * std::pow(10.0, std::floor(std::log10(time_us)));
}

bool is_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

std::string nccl_program(std::string_view text) {
  constexpr std::string_view kEnd = "_perf";
  for (auto end = text.find(kEnd); end != std::string_view::npos; end = text.find(kEnd, end + 1)) {
    const std::size_t after = end + kEnd.size();
    std::size_t begin = end;
    while (begin > 0 && is_of_name(text[begin - 1])) {
      --begin;
    }
    if (begin < end && (after == text.size() || !is_of_name(text[after]))) {
      return std::string(text.substr(begin, end - begin));
    }
  }
  return "";
}

std::string nccl_version(double code) {
  const int number = static_cast<int>(std::clamp(code, 0.0, 1e8));
  const int minor = number < 10'000 ? 10 : 100;  // before and since 2.9
  return number == 0
             ? ""
             : fmt::format("{}.{}.{}", number / (minor * 100), number / 100 % minor, number % 100);
}

std::optional<double> nccl_busbw_factor(std::string_view collective, std::size_t nranks) {
  const auto* rule =
      find_collective_rule(collective == "alltoall" ? std::string_view("all_to_all") : collective);
  if (nranks == 0) {
    return std::nullopt;
  }
  if (rule != nullptr) {
    return rule->busbw_factor(nranks);
  }
  if (collective == "gather" || collective == "scatter") {
    return (static_cast<double>(nranks) - 1) / static_cast<double>(nranks);
  }
  return std::nullopt;
}

std::string nccl_collective(const NcclRun& run) {
  if (!run.collective.empty() || run.rows.empty() || run.nranks() == 0) {
    return run.collective;
  }
  std::string only;
  for (const Looks& looks : kLooks) {
    if (may_be(run, looks)) {
      if (!only.empty()) {
        return "";
      }
      only = looks.program;
    }
  }
  return only;
}

double nccl_busbw(const NcclRow& row, const NcclFigure& figure, std::optional<double> factor) {
  if (!factor || figure.time_us <= 0) {
    return figure.busbw_GB_s;
  }
  const double computed = static_cast<double>(row.size_bytes) / figure.time_us * 1e-3 * *factor;
  const double doubt = half_step_us(figure.time_us) / figure.time_us;
  const bool agree =
      std::abs(computed - figure.busbw_GB_s) <= 1.01 * kHalfStep_GB_s + computed * doubt;
  const bool finer = doubt * figure.busbw_GB_s < kHalfStep_GB_s;
  return agree && finer ? computed : figure.busbw_GB_s;
}

double nccl_average(const NcclRun& run) {
  const auto factor = nccl_busbw_factor(nccl_collective(run), run.nranks());
  double sum = 0;
  for (const NcclRow& row : run.rows) {
    sum += nccl_busbw(row, row.out_of_place, factor) + nccl_busbw(row, row.in_place, factor);
  }
  return sum / (2.0 * static_cast<double>(run.rows.size()));
}

}  // namespace fleetbench::record
