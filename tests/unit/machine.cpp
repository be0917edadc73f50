#include "tests/unit/machine.hpp"

#include <gtest/gtest.h>

namespace fleetbench {
namespace {

std::string without_c_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    plain += escaped ? (text[i + 1] == 'n' ? '\n' : '\t') : text[i];
    i += escaped ? 1 : 0;
  }
  return plain;
}

}  // namespace

void Machine::load(const fs::path& tree) const {
  std::ifstream lines(tree);
  ASSERT_TRUE(lines) << tree;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_end = line.find(' ');
    if (line.empty() || line[0] == '#') {
      continue;
    }
    const std::string path = line.substr(0, name_end);
    if (line.compare(name_end, 4, " -> ") == 0) {
      link(path, line.substr(name_end + 4));
    } else {
      write(path, without_c_escapes(line.substr(name_end + 3)));
    }
  }
}

}  // namespace fleetbench
