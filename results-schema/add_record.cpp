// Which records a run may have, and what is known of it with one more.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "results-schema/check.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {
namespace {

// Far more than a scenario has, whose steps are 200 at most and run in one or two schedules.
constexpr std::size_t kMostSteps = 10'000;
constexpr std::size_t kMostConfirmations = 10'000'000;  // each suspect is one
constexpr int kMostPasses = 1'000'000;
constexpr int kMostPairs = 1000;

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
// Which clang wants before its version 17.
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

void require_node(const RunData& run, int node, const char* key) {
  if (node < 0 || node >= static_cast<int>(run.header.nodes.size())) {
    throw std::invalid_argument(
        fmt::format("{}: there is no node {}, the run has {}", key, node, run.header.nodes.size()));
  }
}

void require_short(const std::string& name, const char* key) {
  if (name.size() > kLongestName) {
    throw std::invalid_argument(
        fmt::format("{}: a name of {} bytes; at most {} are read", key, name.size(), kLongestName));
  }
}

void require_fewer(std::size_t count, std::size_t most, const char* key) {
  if (count >= most) {
    throw std::invalid_argument(
        fmt::format("{}: there are {} already, and no more are read", key, count));
  }
}

void require_at_most(int number, int most, const char* key) {
  if (number < 0 || number > most) {
    throw std::invalid_argument(fmt::format("{}: {} is not from 0 to {}", key, number, most));
  }
}

void check_names(const StepRecord& step) {
  require_short(step.id, "id");
  require_short(step.probe, "probe");
  for (const MetricInfo& metric : step.metrics) {
    require_short(metric.name, "metrics");
    require_short(metric.unit, "metrics");
  }
}

void check(const RunData& run, const StepRecord& step) {
  require_fewer(run.steps.size(), kMostSteps, "step");
  check_names(step);
  if (step.step != static_cast<int>(run.steps.size())) {
    throw std::invalid_argument(
        fmt::format("step: {} comes out of order, {} is next", step.step, run.steps.size()));
  }
  const bool used = std::any_of(run.steps.begin(), run.steps.end(),
                                [&step](const StepRecord& other) { return other.id == step.id; });
  if (used) {
    throw std::invalid_argument(fmt::format("id: \"{}\" is the id of two steps", step.id));
  }
}

void require_step(const RunData& run, int step) {
  if (step < 0 || step >= static_cast<int>(run.steps.size())) {
    throw std::invalid_argument(fmt::format("step: there is no step {} yet", step));
  }
}

void check_ends(const RunData& run, int node, std::optional<int> peer, const std::string& key,
                const std::string& peer_key) {
  require_node(run, node, key.c_str());
  if (peer) {
    require_node(run, *peer, peer_key.c_str());
    if (*peer == node) {
      throw std::invalid_argument(fmt::format("{}: node {} is its own peer", peer_key, node));
    }
  }
}

void check(const RunData& run, const ConfirmRecord& record) {
  require_fewer(run.confirmations.size(), kMostConfirmations, "confirm");
  if (record.confirm != static_cast<int>(run.confirmations.size())) {
    throw std::invalid_argument(fmt::format("confirm: {} comes out of order, {} is next",
                                            record.confirm, run.confirmations.size()));
  }
  require_step(run, record.step);
  require_at_most(record.pairs, kMostPairs, "pairs");
  for (const Comparison& compared : record.compared) {
    check_ends(run, compared.node, compared.peer, "node", "peer");
    check_ends(run, compared.reference, compared.reference_peer, "reference", "reference_peer");
  }
}

// `members`: of the sample's group, sorted.
void check_group(const RunData& run, const SampleRecord& sample, const std::vector<int>& members) {
  for (const int node : members) {
    require_node(run, node, "group");
  }
  if (const auto twice = std::ranges::adjacent_find(members); twice != members.end()) {
    throw std::invalid_argument(fmt::format("group: node {} is in it twice", *twice));
  }
  if (!members.empty() && !std::ranges::binary_search(members, sample.node)) {
    throw std::invalid_argument(
        fmt::format("group: node {}, whose sample this is, is not in it", sample.node));
  }
}

// Fewer than any fleet's.
constexpr std::size_t kMostEnds = 1'000'000;

void check_devices(const RunData& run, const SampleRecord& sample,
                   const std::vector<int>& members) {
  require_fewer(sample.ends.size(), kMostEnds, "ends");
  for (const End& end : sample.ends) {
    require_node(run, end.node, "ends");
    require_short(end.device, "ends");
    const bool took_part = sample.peer
                               ? end.node == sample.node || end.node == *sample.peer
                               : members.empty() || std::ranges::binary_search(members, end.node);
    if (!took_part) {
      throw std::invalid_argument(
          fmt::format("ends: node {} took no part in this sample", end.node));
    }
  }
}

// A value of a link says nothing where its other end is not known.
void check_ends_of_links(const StepRecord& step, const SampleRecord& sample) {
  for (std::size_t i = 0; i < sample.values.size() && !sample.peer; ++i) {
    if (sample.values[i] && step.metrics[i].subject == SubjectKind::link) {
      throw std::invalid_argument(
          fmt::format("peer: is missing, and {} is of a link", step.metrics[i].name));
    }
  }
}

void check(const RunData& run, const SampleRecord& sample) {
  require_step(run, sample.step);
  check_ends(run, sample.node, sample.peer, "node", "peer");
  std::vector<int> members = sample.group;
  std::ranges::sort(members);
  check_group(run, sample, members);
  check_devices(run, sample, members);
  require_short(sample.device, "device");
  require_at_most(sample.pass, kMostPasses, "pass");
  const auto confirmations = static_cast<int>(run.confirmations.size());
  if (sample.confirms && (*sample.confirms < 0 || *sample.confirms >= confirmations)) {
    throw std::invalid_argument(
        fmt::format("confirms: there is no confirmation {} yet", *sample.confirms));
  }
  const std::size_t expected =
      sample.status == Status::ok ? run.steps[sample.step].metrics.size() : 0;
  if (sample.values.size() != expected) {
    throw std::invalid_argument(fmt::format(
        "values: {} of them, a sample of step \"{}\" that is "
        "{} has {}",
        sample.values.size(), run.steps[sample.step].id, to_string(sample.status), expected));
  }
  check_ends_of_links(run.steps[sample.step], sample);
}

}  // namespace

void add_record(RunData& run, Record record) {
  std::visit(Overloaded{[&run](StepRecord&& step) {
                          check(run, step);
                          run.steps.push_back(std::move(step));
                        },
                        [&run](SampleRecord&& sample) {
                          check(run, sample);
                          run.samples.push_back(std::move(sample));
                        },
                        [&run](LossRecord&& loss) {
                          require_node(run, loss.node, "node");
                          run.losses.push_back(std::move(loss));
                        },
                        [&run](OmissionRecord&& omission) {
                          if (omission.node) {
                            require_node(run, *omission.node, "node");
                          }
                          run.omissions.push_back(std::move(omission));
                        },
                        [&run](ConfirmRecord&& confirm) {
                          check(run, confirm);
                          run.confirmations.push_back(std::move(confirm));
                        },
                        [&run](const ResumeRecord& /*resume*/) {
                          run.losses.clear();
                          run.omissions.clear();
                          run.end.reset();
                        },
                        [&run](EndRecord&& end) { run.end = std::move(end); }},
             std::move(record));
}

}  // namespace fleetbench
