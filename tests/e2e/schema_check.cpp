// schema_check SCHEMA FILE [--lines]: does a file that the program wrote follow its schema?
// With --lines each line is a document of its own. Prints the faults; exit 1 where there are any.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "results-schema/check.hpp"

namespace {

int report(const std::string& where, const std::vector<std::string>& faults) {
  for (const auto& fault : faults) {
    fmt::print("{}: {}\n", where, fault);
  }
  return faults.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fleetbench;
  if (argc < 3) {
    fmt::print(stderr, "usage: schema_check SCHEMA FILE [--lines]\n");
    return 64;
  }
  std::ifstream file(argv[2]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Json& schema = schema_named(argv[1]);
  if (argc == 3) {
    return report(argv[2], check_against(parse_json(text, argv[2]), schema));
  }
  int result = 0;
  int number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto where = fmt::format("{}:{}", argv[2], ++number);
    result |= report(where, check_against(parse_json(line, where), schema));
  }
  return result;
}
