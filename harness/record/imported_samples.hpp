// What the readers of other tools' files return: docs/imported-samples.md says what they accept.
#pragma once

#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::record {

struct SourceText {
  std::string name;  // stands in messages, and with others for the run's id
  std::string text;
};

// Something in a file that could not be taken as it stands.
struct Problem {
  std::string kind;  // "bad_number": one of those listed in docs/imported-samples.md
  std::string file;
  int line = 0;  // 1 is the first; of a record over several lines the first; 0: the whole file
  std::string message;

  std::string text() const;  // "samples.csv:7: message"
};

struct ImportedSamples {
  // `imported`; its `damage` has the texts of the errors, but for those of kind `failed` and
  // `wrong_result`: those are results, and have samples that say so.
  RunData run;
  std::vector<Problem> errors;    // what they are about is left out; everything else is kept
  std::vector<Problem> warnings;  // what they are about is kept
};

// Stands for the id of a run of these files: "a.csv, b.csv", "a.log and 407 more files".
std::string title_of(const std::vector<std::string>& files);

}  // namespace fleetbench::record
