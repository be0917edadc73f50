#include "harness/simulate/faults.hpp"

#include <algorithm>
#include <cmath>

namespace fleetbench::simulation {
namespace {

std::vector<std::string> metric_names(const Fleet& fleet, const Group& group) {
  std::vector<std::string> names;
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    names.push_back(metric_name(fleet, m));
  }
  return names;
}

// On as many different nodes as are faulty, one subject each.
std::vector<int> faulty_subjects(const Fleet& fleet, const Group& group, Random& random) {
  std::vector<int> subjects = random.some_of(fleet.spec.nodes, fleet.spec.faulty);
  for (int& subject : subjects) {
    subject = subject * fleet.per_node(group) + random.below(fleet.per_node(group));
  }
  return subjects;
}

void add_slow_subjects(Fleet& fleet, Random& random, bool devices) {
  const Group& group = any_group(fleet, random, devices);
  for (const int subject : faulty_subjects(fleet, group, random)) {
    slow_down(fleet, group, subject, fleet.spec.effect);
    note_slow(fleet, group, subject_of(fleet, group, subject), fleet.spec.effect);
  }
}

void add_slow_metric(Fleet& fleet, Random& random) {
  const auto metric = static_cast<std::size_t>(random.below(fleet.spec.metrics));
  const Group& group = fleet.group_of(metric);
  for (const int subject : faulty_subjects(fleet, group, random)) {
    fleet.levels[metric][subject] += std::log1p(fleet.spec.effect);
    note_slow(fleet, group, subject_of(fleet, group, subject), fleet.spec.effect);
    fleet.faults.back().metrics = {metric_name(fleet, metric)};
  }
}

void add_slow_nodes_of_devices(Fleet& fleet, Random& random) {
  const Group& group = any_group(fleet, random, true);
  for (const int node : random.some_of(fleet.spec.nodes, fleet.spec.faulty)) {
    for (int device = 0; device < fleet.spec.devices; ++device) {
      slow_down(fleet, group, node * fleet.spec.devices + device, fleet.spec.effect);
    }
    note_slow(fleet, group, {.kind = "node", .node = node_name(node)}, fleet.spec.effect);
  }
}

void add_slow_fleet(Fleet& fleet, Random& random) {
  const Group& group = random.one_of(fleet.groups);
  for (int subject = 0; subject < fleet.subjects(group); ++subject) {
    slow_down(fleet, group, subject, fleet.spec.effect);
  }
  note_slow(fleet, group, {.kind = "fleet"}, fleet.spec.effect);
}

void note_broken(Fleet& fleet, const Group& group, Subject who, Direction direction) {
  note_slow(fleet, group, std::move(who), 0);
  fleet.faults.back().direction = direction;
}

void add_status(Fleet& fleet, Random& random, Status status) {
  const Group& group = random.one_of(fleet.groups);
  for (const int subject : faulty_subjects(fleet, group, random)) {
    const int passes =
        status == Status::wrong ? 1 + random.below(fleet.spec.passes) : fleet.spec.passes;
    for (const int pass : random.some_of(fleet.spec.passes, passes)) {
      fleet.troubles.push_back(
          {static_cast<std::size_t>(&group - fleet.groups.data()), subject, pass, status});
    }
    note_broken(fleet, group, subject_of(fleet, group, subject),
                status == Status::wrong ? Direction::wrong : Direction::missing);
  }
}

void leave_out(Fleet& fleet, std::size_t group, int subject) {
  for (int pass = 0; pass < fleet.spec.passes; ++pass) {
    fleet.troubles.push_back({group, subject, pass, Status::ok, true});
  }
}

void lose_nodes(Fleet& fleet, Random& random) {
  fleet.lost_from.assign(static_cast<std::size_t>(fleet.spec.nodes), fleet.spec.passes);
  for (const int node : random.some_of(fleet.spec.nodes, fleet.spec.faulty)) {
    fleet.lost_from[node] = random.below(fleet.spec.passes);
    note_broken(fleet, fleet.groups.front(), {.kind = "node", .node = node_name(node)},
                Direction::missing);
  }
}

// A device is gone for all that is measured on devices; of a node without devices, only another
// tool would leave nothing behind, and that in a part of what it measures.
void add_missing(Fleet& fleet, Random& random) {
  const bool devices = fleet.spec.devices > 0;
  if (!devices && !fleet.spec.imported) {
    lose_nodes(fleet, random);
    return;
  }
  const Group& chosen = any_group(fleet, random, devices);
  for (const int subject : faulty_subjects(fleet, chosen, random)) {
    for (std::size_t g = 0; g < fleet.groups.size(); ++g) {
      if (devices ? fleet.groups[g].of_devices : &fleet.groups[g] == &chosen) {
        leave_out(fleet, g, subject);
      }
    }
    note_broken(fleet, chosen, subject_of(fleet, chosen, subject), Direction::missing);
  }
}

}  // namespace

const Group& any_group(const Fleet& fleet, Random& random, bool of_devices) {
  std::vector<const Group*> suited;
  for (const Group& group : fleet.groups) {
    if (group.of_devices == of_devices) {
      suited.push_back(&group);
    }
  }
  return *random.one_of(suited);
}

void slow_down(Fleet& fleet, const Group& group, int subject, double effect) {
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    fleet.levels[m][subject] += std::log1p(effect);
  }
}

void note_slow(Fleet& fleet, const Group& group, Subject who, double effect) {
  fleet.faults.push_back(
      {std::move(who), Direction::slow, group.layer, metric_names(fleet, group), effect});
}

void add_faults(Fleet& fleet, Random& random) {
  switch (fleet.spec.fault) {
    case Fault::none:
      break;
    case Fault::layer:
      add_slow_subjects(fleet, random, false);
      break;
    case Fault::metric:
      add_slow_metric(fleet, random);
      break;
    case Fault::device:
      add_slow_subjects(fleet, random, true);
      break;
    case Fault::devices:
      add_slow_nodes_of_devices(fleet, random);
      break;
    case Fault::fleet:
      add_slow_fleet(fleet, random);
      break;
    case Fault::wrong:
      add_status(fleet, random, Status::wrong);
      break;
    case Fault::failed:
      add_status(fleet, random, Status::failed);
      break;
    case Fault::missing:
      add_missing(fleet, random);
      break;
    case Fault::unseen:
      add_unseen(fleet, random);
      break;
  }
}

}  // namespace fleetbench::simulation
