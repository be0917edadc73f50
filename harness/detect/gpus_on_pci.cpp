#include "harness/detect/gpus_on_pci.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>

#include "results-schema/json_at.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kCuda = "cuda";
constexpr const char* kNvidia = "0x10de";
constexpr const char* kCheck =
    "On the node: `lspci -d 10de: -k` (is the driver bound to it?), `nvidia-smi -L`, and the "
    "kernel log for NVRM and Xid messages (`dmesg | grep -i -e nvrm -e xid`); then load or mend "
    "the driver, or reset the GPU.";

// Of NVIDIA's GPUs. What the GPU worker says, or where it could say nothing the inventory.
std::vector<std::string> addresses_on_pci(const Inventory& inventory) {
  std::vector<std::string> addresses;
  const Json& cuda = inventory.part(kCuda);
  if (const auto found = cuda.find("on_pci"); found != cuda.end() && found->is_array()) {
    for (const Json& address : *found) {
      addresses.push_back(address.is_string() ? address.get<std::string>() : "");
    }
    return addresses;
  }
  for (const Json& gpu : inventory.part("gpus")) {
    if (text_at(gpu, "vendor") == kNvidia) {
      addresses.push_back(text_at(gpu, "address"));
    }
  }
  return addresses;
}

// By address.
std::map<std::string, std::string> labels_in(const Json& cuda) {
  std::map<std::string, std::string> labels;
  const auto gpus = cuda.find("gpus");
  for (std::size_t i = 0; gpus != cuda.end() && gpus->is_array() && i < gpus->size(); ++i) {
    labels[text_at((*gpus)[i], "address")] = text_at((*gpus)[i], "label");
  }
  return labels;
}

struct Seen {
  std::vector<std::string> on_pci;
  std::map<std::string, std::string> shown;  // by CUDA: labels, by address

  std::vector<std::string> absent() const {
    std::vector<std::string> addresses;
    std::ranges::copy_if(on_pci, std::back_inserter(addresses),
                         [this](const auto& address) { return !shown.contains(address); });
    return addresses;
  }
};

std::string plural(std::size_t count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

Finding missing(const std::string& node, const std::string& device, std::string text) {
  Finding finding;
  finding.subject.kind = device.empty() ? "node" : "device";
  finding.subject.node = node;
  finding.subject.device = device;
  finding.direction = Direction::missing;
  finding.status = FindingStatus::confirmed;
  finding.layer = Layer::compute;
  finding.p_value = 0;
  finding.evidence.push_back({std::move(text), "inventory"});
  finding.next_check = kCheck;
  return finding;
}

std::string why(const Json& cuda) {
  std::string reason = text_at(cuda, "lacks");
  reason = reason.empty() ? text_at(cuda, "reason") : reason;
  return reason.empty() ? "" : ": " + reason;
}

class Finder {
 public:
  explicit Finder(const RunData& run) {
    for (const NodeInfo& node : run.header.nodes) {
      if (node.inventory.part(kCuda).is_object()) {
        for (const auto& [address, label] : labels_in(node.inventory.part(kCuda))) {
          labels_.try_emplace(address, label);
        }
      }
    }
  }

  void look_at(const NodeInfo& node, GpusOnPci& result) const {
    const Json& cuda = node.inventory.part(kCuda);
    const Seen seen{addresses_on_pci(node.inventory), labels_in(cuda)};
    const auto absent = seen.absent();
    if (absent.empty()) {
      return;
    }
    const std::string shown = seen.shown.empty() ? "none" : fmt::format("{}", seen.shown.size());
    if (const auto by = hidden_by(node); !by.empty()) {
      result.hidden.push_back(
          {fmt::format("{} of {} on {}", absent.size(), plural(seen.on_pci.size()), node.name),
           "hidden from this run: " + by});
    } else if (seen.shown.empty()) {
      result.missing.push_back(
          missing(node.name, "",
                  fmt::format("the PCI tree shows {} ({}), CUDA none{}", plural(seen.on_pci.size()),
                              fmt::join(seen.on_pci, ", "), why(cuda))));
    } else {
      for (const std::string& address : absent) {
        result.missing.push_back(
            missing(node.name, called(address, seen),
                    fmt::format("the PCI tree shows a GPU at {}, CUDA does not ({} of {}){}",
                                address, shown, seen.on_pci.size(), why(cuda))));
      }
    }
  }

 private:
  // As others call it, unless another one is called so here.
  std::string called(const std::string& address, const Seen& seen) const {
    const auto found = labels_.find(address);
    const bool is_free = found != labels_.end() && !found->second.empty() &&
                         std::ranges::none_of(seen.shown, [&](const auto& entry) {
                           return entry.second == found->second;
                         });
    return is_free ? found->second : address;
  }

  std::map<std::string, std::string> labels_;
};

// Of the steps that were left out before the run began; empty where none was.
std::string why_left_out(const RunData& run) {
  for (const OmissionRecord& omission : run.omissions) {
    const bool is_step = std::ranges::any_of(
        run.steps, [&](const StepRecord& step) { return step.id == omission.step; });
    if (!is_step && !omission.node) {
      return omission.reason;
    }
  }
  return "";
}

std::vector<std::string> gaps_of(const RunData& run) {
  const std::string reason = why_left_out(run);
  std::size_t nodes = 0;
  std::size_t gpus = 0;
  for (const NodeInfo& node : run.header.nodes) {
    if (!reason.empty() && !node.inventory.part(kCuda).is_object()) {
      const std::size_t own = addresses_on_pci(node.inventory).size();
      gpus += own;
      nodes += own > 0 ? 1 : 0;
    }
  }
  return gpus == 0 ? std::vector<std::string>()
                   : std::vector{fmt::format("{} of {} node{} not measured: {}", plural(gpus),
                                             nodes, nodes == 1 ? " was" : "s were", reason)};
}

}  // namespace

std::string hidden_by(const NodeInfo& node) {
  return text_at(node.inventory.part(kCuda), "hidden_by");
}

GpusOnPci gpus_on_pci(const RunData& run) {
  GpusOnPci result;
  result.gaps = gaps_of(run);
  const Finder finder(run);
  for (const NodeInfo& node : run.header.nodes) {
    if (node.inventory.part(kCuda).is_object()) {
      finder.look_at(node, result);
    }
  }
  return result;
}

void join_missing(std::vector<Finding> missing, std::vector<Finding>& findings) {
  for (Finding& one : missing) {
    bool is_known = false;
    for (Finding& other : findings) {
      if (other.subject == one.subject && other.direction == Direction::missing) {
        other.evidence.push_back(one.evidence.front());
        other.next_check = one.next_check;
        is_known = true;
      }
    }
    if (!is_known) {
      findings.push_back(std::move(one));
    }
  }
}

}  // namespace fleetbench::detect
