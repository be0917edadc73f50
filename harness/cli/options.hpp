// How the commands describe and read their options.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::cli {

struct Option {
  std::string name;  // "suite", or "s,suite" with its short form
  std::string description;
  std::string value;  // what stands for its value in the help; empty: a switch
  bool repeatable = false;
};

inline constexpr int kAnyNumber = std::numeric_limits<int>::max();  // of positional arguments

// A command as `--help` shows it. --help itself is added.
struct Usage {
  std::string program;  // "fleetbench list"
  std::string summary;
  std::string synopsis;  // what follows the program: "DIR [OPTIONS]"
  std::vector<Option> options;
  std::string epilogue;  // examples
  int positional = 0;    // how many arguments without a name there may be
};

class Arguments {
 public:
  bool has(const std::string& option) const { return values_.contains(option); }
  // The value of an option that was given once, else "".
  std::string text(const std::string& option) const;
  // All values of a repeatable option, in order.
  std::vector<std::string> texts(const std::string& option) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend Arguments parse(const Usage&, const std::vector<std::string>&);
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
};

// Throws InputError naming an option that is unknown, lacks its value or is given twice although it
// is not repeatable, or the first argument too many.
Arguments parse(const Usage& usage, const std::vector<std::string>& arguments);

std::string help(const Usage& usage);

// Throws InputError unless the text is a whole number from `least` to `most`.
long whole_number(const std::string& option, const std::string& text, long least, long most);

// Seconds: "90s", "10m", "2h", or a number of seconds. Throws InputError unless it is from
// `least_s` to a year.
double duration_s(const std::string& option, const std::string& text, double least_s);

// {"compute=2", "host=4"} → {compute: 0.02, host: 0.04}; "all=1" sets every layer. Throws
// InputError.
std::map<Layer, double> min_effects(const std::vector<std::string>& texts);

}  // namespace fleetbench::cli
