#include "harness/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

void check_repetition(const cxxopts::ParseResult& result,
                      const std::vector<std::string>& repeatable) {
  std::map<std::string, int> counts;
  for (const auto& argument : result.arguments()) {
    const bool may_repeat =
        std::find(repeatable.begin(), repeatable.end(), argument.key()) != repeatable.end();
    if (++counts[argument.key()] > 1 && !may_repeat) {
      throw InputError(fmt::format("--{} is given twice; give it once", argument.key()));
    }
  }
}

}  // namespace

cxxopts::ParseResult parse(cxxopts::Options& options, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& repeatable) {
  std::vector<const char*> argv{options.program().c_str()};
  for (const auto& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  try {
    auto result = options.parse(static_cast<int>(argv.size()), argv.data());
    check_repetition(result, repeatable);
    return result;
  } catch (const cxxopts::exceptions::exception& error) {
    throw InputError(
        fmt::format("{}; `{} --help` lists the options", error.what(), options.program()));
  }
}

long whole_number(const std::string& option, const std::string& text, long least, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw InputError(
        fmt::format("--{} {}: is not a whole number from {} to {}", option, text, least, most));
  }
  return value;
}

std::map<Layer, double> min_effects(const std::vector<std::string>& texts) {
  std::map<Layer, double> effects;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    const auto number = equals == std::string::npos ? "" : text.substr(equals + 1);
    double percent = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), percent);
    if (error != std::errc() || end != number.data() + number.size() || !(percent >= 0.01) ||
        percent > 1000) {
      throw InputError(fmt::format(
          "--min-effect {}: is not LAYER=PERCENT with a percentage from 0.01 to 1000", text));
    }
    const auto layer = text.substr(0, equals);
    if (layer == "all") {
      for (const Layer each : all_layers()) {
        effects[each] = percent / 100;
      }
      continue;
    }
    try {
      effects[parse_layer(layer)] = percent / 100;
    } catch (const std::invalid_argument& wrong) {
      throw InputError(fmt::format("--min-effect {}: {}, all", text, wrong.what()));
    }
  }
  return effects;
}

}  // namespace fleetbench::cli
