#include "probes/support/collective_params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fleetbench {
namespace {

Json integer(std::int64_t fallback, std::int64_t minimum, std::int64_t maximum,
             std::string_view description) {
  return {{"type", "integer"},
          {"default", fallback},
          {"minimum", minimum},
          {"maximum", maximum},
          {"description", description}};
}

Json names_schema(const std::vector<std::string_view>& names) {
  return {{"type", "array"},
          {"items", {{"type", "string"}, {"enum", names}}},
          {"minItems", 1},
          {"maxItems", names.size()},
          {"uniqueItems", true},
          {"default", names},
          {"description", "which collectives to measure, in this order"}};
}

}  // namespace

Json sweep_properties(const SweepLimits& limits) {
  Json begin =
      integer(8, 4, limits.largest_bytes, "smallest size in bytes, counted as nccl-tests does");
  begin["multipleOf"] = sizeof(float);
  const Json max_s = {{"type", "number"},
                      {"default", 1.0},
                      {"minimum", 0.001},
                      {"maximum", 600},
                      {"description",
                       "seconds a size may take: fewer iterations are run where the warm-up says "
                       "that they would take longer, at least one"}};
  return {{"collectives", names_schema(limits.collectives)},
          {"begin_bytes", begin},
          {"end_bytes", integer(limits.end_bytes, 4, limits.largest_bytes,
                                "no size is larger, but for the first")},
          {"factor", integer(8, 2, 1 << 20, "from one size to the next")},
          {"iterations", integer(20, 1, 1000000, "timed calls of each collective and size")},
          {"warmup", integer(3, 1, 1000, "calls of each collective and size before them")},
          {"max_s", max_s}};
}

SweepParams sweep_params(const Json& params) {
  return {.collectives = params.at("collectives").get<std::vector<std::string>>(),
          .sizes_bytes = size_sweep(params.at("begin_bytes").get<std::size_t>(),
                                    params.at("end_bytes").get<std::size_t>(),
                                    params.at("factor").get<std::size_t>()),
          .iterations = params.at("iterations").get<int>(),
          .warmup = params.at("warmup").get<int>(),
          .max_s = params.at("max_s").get<double>()};
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

std::string size_text(std::size_t bytes) {
  const std::string name = size_name(bytes);
  return name.back() < 'A' ? name + " bytes"
                           : fmt::format("{} {}iB", name.substr(0, name.size() - 1), name.back());
}

std::string busbw_name(std::string_view collective, std::size_t bytes) {
  return fmt::format("{}.busbw.{}", collective, size_name(bytes));
}

int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted) {
  const double iteration_s = warmup_s / std::max(1, warmup);
  if (iteration_s * wanted <= max_s) {
    return wanted;
  }
  return std::max(1, static_cast<int>(max_s / iteration_s));
}

}  // namespace fleetbench
