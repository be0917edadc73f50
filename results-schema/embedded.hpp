// Files of the source tree that are compiled in, so that one executable is enough on every node.
#pragma once

#include <string>
#include <vector>

namespace fleetbench {

struct EmbeddedFile {
  std::string name;  // without folder and ending: "quick", "report"
  std::string text;
};

const std::vector<EmbeddedFile>& embedded_schemas();    // results-schema/*.schema.json
const std::vector<EmbeddedFile>& embedded_scenarios();  // scenarios/*.json

}  // namespace fleetbench
