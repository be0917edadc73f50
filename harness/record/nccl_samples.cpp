#include "harness/record/nccl_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/record/nccl_collective.hpp"
#include "harness/record/nccl_steps.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

// Whose data goes one way, and whether away from the root.
bool from_root(const std::string& collective) {
  return collective == "broadcast" || collective == "scatter";
}
bool to_root(const std::string& collective) {
  return collective == "reduce" || collective == "gather";
}

class NcclAssembly {
 public:
  NcclAssembly(const std::vector<NcclRun>& runs, const std::vector<std::string>& files,
               NcclProblems& problems, const ImportLimits& limits)
      : runs_(runs), files_(files), problems_(problems), limits_(limits) {}

  RunData run() && {
    data_.imported = true;
    data_.header.run_id = title_of(files_);
    data_.end = EndRecord{};
    std::vector<const NcclRun*> usable;
    for (const NcclRun& run : runs_) {
      if (is_usable(run)) {
        usable.push_back(&run);
      }
    }
    number_nodes(usable);
    const NcclSteps steps(usable);
    data_.steps = steps.records();
    for (std::size_t i = 0; i < usable.size(); ++i) {
      add(*usable[i], steps.place(i), steps.step(i));
    }
    settle_directions();
    warn_of_versions(usable);
    std::ranges::stable_sort(data_.samples, {}, &SampleRecord::slot);
    return std::move(data_);
  }

 private:
  const std::string& file(const NcclRun& run) const {
    return files_.at(static_cast<std::size_t>(run.file));
  }

  bool is_usable(const NcclRun& run) {
    if (run.ranks.empty()) {
      problems_.errors.add(
          {"no_node", file(run), run.line,
           "the run does not name its nodes, as nccl-tests does below \"# Using devices\"; keep "
           "all that it prints"});
      return false;
    }
    if (run.nranks() == 1 && !run.has_failed()) {
      problems_.errors.add({"no_data", file(run), run.line,
                            "the run is of one GPU, which has nobody to exchange data with"});
      return false;
    }
    if (run.complete && run.rows.empty()) {
      problems_.errors.add({"no_rows", file(run), run.line, "the run ended without a row"});
      return false;
    }
    return true;
  }

  void number_nodes(const std::vector<const NcclRun*>& runs) {
    for (const NcclRun* run : runs) {
      for (const NcclRank& rank : run->ranks) {
        nodes_.try_emplace(rank.node, 0);
      }
    }
    // In the order of names: what is found must not depend on the order of files.
    for (auto& [name, number] : nodes_) {
      number = static_cast<int>(data_.header.nodes.size());
      NodeInfo& node = data_.header.nodes.emplace_back();
      node.index = number;
      node.name = name;
    }
  }

  // Ends of one node stand together, nodes in their order.
  std::vector<End> ends_of(const NcclRun& run) const {
    std::vector<End> ends;
    if (run.ranks_unnamed > 0) {
      return ends;
    }
    for (const NcclRank& rank : run.ranks) {
      ends.push_back({nodes_.at(rank.node), rank.pci});
    }
    std::ranges::stable_sort(ends, {}, &End::node);
    return ends;
  }

  std::vector<int> members_of(const NcclRun& run) const {
    std::set<int> members;
    for (const NcclRank& rank : run.ranks) {
      members.insert(nodes_.at(rank.node));
    }
    return {members.begin(), members.end()};
  }

  // Where data goes one way, what a link sends is that of the end that sends it.
  bool is_reversed(const NcclRun& run, const std::string& collective,
                   const std::vector<int>& members) const {
    if (run.rows.empty() || !(from_root(collective) || to_root(collective))) {
      return false;
    }
    const int root = run.rows.front().root.value_or(-1);
    const auto found = std::ranges::find(run.ranks, root, &NcclRank::rank);
    const bool same = std::ranges::all_of(
        run.rows, [root](const NcclRow& row) { return row.root.value_or(-1) == root; });
    if (found == run.ranks.end() || !same) {
      return false;
    }
    return (nodes_.at(found->node) == members.front()) == to_root(collective);
  }

  SampleRecord sample_of(const NcclRun& run, const NcclPlace& place, const StepRecord& step) const {
    SampleRecord sample;
    sample.step = step.step;
    const std::vector<int> members = members_of(run);
    sample.node = members.front();
    sample.ends = ends_of(run);
    if (members.size() == 2) {
      const bool reversed = is_reversed(run, place.collective, members);
      sample.node = members[reversed ? 1 : 0];
      sample.peer = members[reversed ? 0 : 1];
      if (reversed) {
        std::ranges::stable_sort(sample.ends, std::greater(), &End::node);
      }
    } else if (members.size() > 2) {
      sample.group = members;
    }
    sample.detail = {{"ranks", run.nranks()}, {"nccl", run.version}, {"source", source_of(run)}};
    return sample;
  }

  std::string source_of(const NcclRun& run) const {
    return run.line > 0 ? fmt::format("{}:{}", file(run), run.line) : file(run);
  }

  void add(const NcclRun& run, const NcclPlace& place, const StepRecord& step) {
    SampleRecord sample = sample_of(run, place, step);
    int& passes = passes_[{step.step, sample.node, sample.peer.value_or(-1), key_of(sample)}];
    if (run.has_failed() || run.is_wrong()) {
      sample.status = run.is_wrong()    ? Status::wrong
                      : run.out_of_time ? Status::timeout
                                        : Status::failed;
      sample.reason = reason_of(run);
      sample.pass = sample.slot = passes++;
      return add_failure(std::move(sample));
    }
    for (const auto& values : place.values) {
      require_room(values.size());
      sample.values = values;
      sample.pass = sample.slot = passes++;
      data_.samples.push_back(sample);
    }
  }

  // Who of a group was at fault is not known: each of its nodes was there.
  void add_failure(SampleRecord sample) {
    const std::vector<End> ends = std::move(sample.ends);
    const std::vector<int> nodes = sample.group.empty() ? std::vector{sample.node} : sample.group;
    for (const int node : nodes) {
      require_room(0);
      sample.node = node;
      sample.ends.clear();
      std::ranges::copy_if(ends, std::back_inserter(sample.ends), [&](const End& end) {
        return sample.group.empty() || end.node == node;
      });
      data_.samples.push_back(sample);
    }
  }

  std::string reason_of(const NcclRun& run) const {
    if (run.is_wrong()) {
      return fmt::format("elements arrived wrong ({})", source_of(run));
    }
    if (run.failures.empty()) {
      return fmt::format("the test has no result{}{} ({})", run.end.empty() ? "" : ": ", run.end,
                         source_of(run));
    }
    // Others fail because the first one did.
    constexpr std::string_view kConsequence = "remote process exited";
    const auto cause = std::ranges::find_if(run.failures, [&](const NcclFailure& failure) {
      return !failure.text.starts_with(kConsequence);
    });
    const NcclFailure& told = cause == run.failures.end() ? run.failures.front() : *cause;
    return fmt::format("the test failed: {} ({}:{})", told.text, file(run), told.line);
  }

  void require_room(std::size_t values) {
    places_ += values;
    if (data_.samples.size() >= limits_.samples || places_ > limits_.places) {
      throw InputError(
          fmt::format("{}: more samples, or sizes for so many samples, than fit into memory; give "
                      "fewer files, or files of fewer sizes",
                      data_.header.run_id));
    }
  }

  using Key = std::vector<std::pair<int, std::string>>;
  static Key key_of(const SampleRecord& sample) {
    Key key;
    for (const int node : sample.group) {
      key.emplace_back(node, "");
    }
    for (const End& end : sample.ends) {
      key.emplace_back(end.node, end.device);
    }
    return key;
  }

  // A link whose data goes one way is one by itself where the other way was measured, too.
  void settle_directions() {
    std::set<std::tuple<int, int, int>> directed;
    for (const SampleRecord& sample : data_.samples) {
      if (sample.peer && sample.status == Status::ok) {
        directed.insert({sample.step, sample.node, *sample.peer});
      }
    }
    for (const auto& [step, a, b] : directed) {
      if (directed.contains({step, b, a})) {
        for (MetricInfo& metric : data_.steps[static_cast<std::size_t>(step)].metrics) {
          metric.symmetric = false;
        }
      }
    }
  }

  void warn_of_versions(const std::vector<const NcclRun*>& runs) {
    std::map<std::string, const NcclRun*> versions;
    for (const NcclRun* run : runs) {
      if (!run->version.empty() && versions.try_emplace(run->version, run).second &&
          versions.size() == 2) {
        const NcclRun& other = *(versions.begin()->second == run ? versions.rbegin()->second
                                                                 : versions.begin()->second);
        problems_.warnings.add(
            {"conflict", file(*run), run->line,
             fmt::format("NCCL {} here and {} in {}: what is slower may be so for that",
                         run->version, other.version, source_of(other))});
      }
    }
  }

  const std::vector<NcclRun>& runs_;
  const std::vector<std::string>& files_;
  NcclProblems& problems_;
  ImportLimits limits_;
  RunData data_;
  std::map<std::string, int> nodes_;
  std::map<std::tuple<int, int, int, Key>, int> passes_;
  std::size_t places_ = 0;
};

}  // namespace

RunData nccl_run_data(const std::vector<NcclRun>& runs, const std::vector<std::string>& files,
                      NcclProblems& problems, const ImportLimits& limits) {
  return NcclAssembly(runs, files, problems, limits).run();
}

}  // namespace fleetbench::record
