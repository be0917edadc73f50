#include "harness/fleet/culprits.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>

namespace fleetbench::fleet {
namespace {

bool has_status(const Json& answer, Status status) {
  return answer.is_object() && answer.value("status", "failed") == to_string(status);
}

const Json& part(const Json& answer, const char* key) {
  static const Json none;
  if (!answer.is_object() || !answer.contains("detail") || !answer["detail"].is_object()) {
    return none;
  }
  const auto found = answer["detail"].find(key);
  return found == answer["detail"].end() ? none : *found;
}

bool says_its_phase(const Json& answer) { return part(answer, "phase").is_string(); }

// ncclRemoteError, as ncclGetErrorString words it.
bool is_remote(const Json& answer) {
  return answer.value("reason", "").find("remote process exited") != std::string::npos;
}

bool is_lost(const Json& answer) { return answer.is_null(); }

bool is_forsaken(const Json& answer) {
  return answer.is_object() && answer.value(kForsaken, false);
}

bool has_died(const Json& answer) {
  return has_status(answer, Status::failed) && !says_its_phase(answer);
}

bool has_failed(const Json& answer) {
  return (has_status(answer, Status::failed) || has_status(answer, Status::skipped)) &&
         !is_remote(answer);
}

bool is_silent(const Json& answer) {
  return has_status(answer, Status::timeout) && !says_its_phase(answer) && !is_forsaken(answer);
}

std::vector<std::size_t> those(const std::vector<Json>& answers,
                               const std::function<bool(const Json&)>& is) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (is(answers[i])) {
      found.push_back(i);
    }
  }
  return found;
}

// Those with the fewest calls done, where all that wait do so in the same phase.
std::vector<std::size_t> those_behind(const std::vector<Json>& answers) {
  std::vector<std::int64_t> calls;
  std::set<std::string> phases;
  for (const Json& answer : answers) {
    const Json& done = part(answer, "calls_done");
    if (says_its_phase(answer) && done.is_number_integer()) {
      phases.insert(part(answer, "phase").get<std::string>());
      calls.push_back(done.get<std::int64_t>());
    }
  }
  if (phases.size() != 1 || std::ranges::min(calls) == std::ranges::max(calls)) {
    return {};
  }
  const Json fewest = std::ranges::min(calls);
  const auto behind = those(answers, [&fewest](const Json& answer) {
    return says_its_phase(answer) && part(answer, "calls_done") == fewest;
  });
  return 2 * behind.size() < answers.size() ? behind : std::vector<std::size_t>();
}

}  // namespace

bool succeeded(const Json& answer) { return has_status(answer, Status::ok); }

std::vector<std::size_t> culprits(const std::vector<Json>& answers) {
  for (const auto is : {is_lost, has_died, has_failed, is_silent}) {
    const auto found = those(answers, is);
    if (!found.empty() && found.size() < answers.size()) {
      return found;
    }
  }
  return those_behind(answers);
}

}  // namespace fleetbench::fleet
