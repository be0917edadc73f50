#include "harness/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cxxopts.hpp>

#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kPositional = "arguments";

cxxopts::Options described(const Usage& usage) {
  cxxopts::Options options(usage.program, usage.summary + "\n");
  options.set_width(100);
  options.custom_help(usage.synopsis);
  options.positional_help("");
  auto add = options.add_options();
  for (const auto& option : usage.options) {
    if (option.value.empty()) {
      add(option.name, option.description);
    } else {
      add(option.name, option.description, cxxopts::value<std::vector<std::string>>(),
          option.value);
    }
  }
  add("h,help", "print this");
  // In a group of its own, which the help leaves out.
  options.add_options("hidden")(kPositional, "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({kPositional});
  return options;
}

std::string long_name(const Option& option) {
  return option.name.substr(option.name.find(',') + 1);
}

}  // namespace

std::string Arguments::text(const std::string& option) const {
  const auto found = values_.find(option);
  return found == values_.end() || found->second.empty() ? "" : found->second.front();
}

std::vector<std::string> Arguments::texts(const std::string& option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string help(const Usage& usage) {
  const auto epilogue = usage.epilogue.empty() ? "" : "\n" + usage.epilogue;
  return described(usage).help({""}) + epilogue;
}

Arguments parse(const Usage& usage, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{usage.program.c_str()};
  for (const auto& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  Arguments parsed;
  try {
    auto options = described(usage);
    const auto result = options.parse(static_cast<int>(argv.size()), argv.data());
    // As they were typed: a value with a comma in it is one value.
    for (const auto& argument : result.arguments()) {
      auto& into =
          argument.key() == kPositional ? parsed.positional_ : parsed.values_[argument.key()];
      into.push_back(argument.value());
    }
  } catch (const cxxopts::exceptions::exception& error) {
    throw InputError(fmt::format("{}; `{} --help` lists the options", error.what(), usage.program));
  }
  for (const auto& option : usage.options) {
    if (!option.repeatable && parsed.texts(long_name(option)).size() > 1) {
      throw InputError(fmt::format("--{} is given twice; give it once", long_name(option)));
    }
  }
  if (static_cast<int>(parsed.positional_.size()) > usage.positional) {
    throw InputError(fmt::format("\"{}\" is not understood; `{} --help` says what is",
                                 parsed.positional_[static_cast<std::size_t>(usage.positional)],
                                 usage.program));
  }
  return parsed;
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

double duration_s(const std::string& option, const std::string& text, double least_s) {
  constexpr double kLongest_s = 366 * 86400.0;
  static const std::map<std::string, double> kUnits{{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = kUnits.find(std::string(end, text.data() + text.size()));
  const double seconds = unit == kUnits.end() ? 0 : number * unit->second;
  if (error != std::errc() || !(seconds >= least_s && seconds <= kLongest_s)) {
    throw InputError(fmt::format("--{} {}: is not a time of at least {:g} s, as 90s, 10m or 2h",
                                 option, text, least_s));
  }
  return seconds;
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
