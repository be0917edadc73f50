#include "probes/mpi/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fleetbench {
namespace {

// A prime, so that the pattern does not repeat at the boundary of a chunk or a page.
constexpr std::size_t kPeriod = 1021;
// A float holds every integer up to 2^24 exactly: enough for the sum over 266,000 members.
constexpr std::size_t kValues = 64;

float input_value(std::size_t element, std::size_t member) {
  return static_cast<float>((element + 37 * member) % kPeriod % kValues);
}

void fill_input(std::span<float> send, std::size_t member) {
  for (std::size_t i = 0; i < send.size(); ++i) {
    send[i] = input_value(i, member);
  }
}

std::vector<float> expect_sum(std::size_t count, std::size_t members, std::size_t /*member*/) {
  std::array<float, kPeriod> sums{};
  for (std::size_t member = 0; member < members; ++member) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      sums[i] += input_value(i, member);
    }
  }
  std::vector<float> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = sums[i % kPeriod];
  }
  return expected;
}

Collective all_reduce() {
  return {.name = "all_reduce",
          .mpi_call = "MPI_Allreduce",
          .busbw_factor =
              [](std::size_t n) {
                return 2.0 * (static_cast<double>(n) - 1.0) / static_cast<double>(n);
              },
          .send_count = [](std::size_t count, std::size_t) { return count; },
          .receive_count = [](std::size_t count, std::size_t) { return count; },
          .call =
              [](const float* send, float* receive, std::size_t count, MPI_Comm comm) {
                return MPI_Allreduce(send, receive, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                                     comm);
              },
          .fill = fill_input,
          .expect = expect_sum};
}

}  // namespace

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> list{all_reduce()};
  return list;
}

std::vector<std::size_t> size_sweep(std::size_t begin, std::size_t end, std::size_t factor) {
  std::vector<std::size_t> sizes{begin};
  while (factor > 1 && sizes.back() <= end / factor) {
    sizes.push_back(sizes.back() * factor);
  }
  return sizes;
}

std::string size_name(std::size_t bytes) {
  for (const auto& [unit, letter] :
       {std::pair{std::size_t{1} << 30, 'G'}, std::pair{std::size_t{1} << 20, 'M'},
        std::pair{std::size_t{1} << 10, 'K'}}) {
    if (bytes >= unit && bytes % unit == 0) {
      return fmt::format("{}{}", bytes / unit, letter);
    }
  }
  return fmt::format("{}", bytes);
}

int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted) {
  const double iteration_s = warmup_s / std::max(1, warmup);
  if (iteration_s * wanted <= max_s) {
    return wanted;
  }
  return std::max(1, static_cast<int>(max_s / iteration_s));
}

std::optional<ElementMismatch> first_mismatch(std::span<const float> got,
                                              std::span<const float> expected) {
  const auto [left, right] = std::ranges::mismatch(got, expected);
  if (left == got.end()) {
    return std::nullopt;
  }
  return ElementMismatch{static_cast<std::size_t>(left - got.begin()), *right, *left};
}

}  // namespace fleetbench
