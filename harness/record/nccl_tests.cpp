#include "harness/record/nccl_tests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/record/nccl_json.hpp"
#include "harness/record/nccl_log.hpp"
#include "harness/record/nccl_samples.hpp"

namespace fleetbench::record {
namespace {

// A result, not damage: what it is about has a sample that says so.
bool is_a_result(const Problem& problem) {
  return problem.kind == "failed" || problem.kind == "wrong_result";
}

}  // namespace

ImportedSamples read_nccl_tests(std::vector<SourceText> files) {
  std::vector<std::string> names;
  std::vector<NcclRun> runs;
  NcclProblems problems;
  for (SourceText& file : files) {
    const SourceText source = std::exchange(file, {});  // large, and of no more use
    const int number = static_cast<int>(names.size());
    names.push_back(source.name);
    auto found = looks_like_nccl_json(source.text) ? read_nccl_json(source, number, problems)
                                                   : read_nccl_log(source, number, problems);
    std::ranges::move(found, std::back_inserter(runs));
  }
  ImportedSamples result;
  result.run = nccl_run_data(runs, names, problems);
  result.errors = in_order(std::move(problems.errors), names);
  result.warnings = in_order(std::move(problems.warnings), names);
  for (const Problem& error : result.errors) {
    if (!is_a_result(error)) {
      result.run.damage.push_back(error.text());
    }
  }
  return result;
}

bool looks_like_nccl_tests(std::string_view text) {
  return looks_like_nccl_json(text) || looks_like_nccl_log(text);
}

}  // namespace fleetbench::record
