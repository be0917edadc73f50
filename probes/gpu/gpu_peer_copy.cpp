// Copies between the GPUs of a node, by the method and under the names of nvbandwidth.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "probes/gpu/gpus_of_node.hpp"
#include "probes/gpu/nvml/shared_library.hpp"
#include "probes/gpu/nvml/telemetry.hpp"
#include "probes/gpu/nvtx_range.hpp"
#include "probes/gpu/peer_copies.hpp"
#include "probes/gpu/registry.hpp"

namespace fleetbench::gpu {
namespace {

constexpr const char* kName = "gpu_peer_copy";

const char* name_of(Way way) { return way == Way::read ? "read_from" : "write_to"; }

// Of each GPU that NVML gives, what it did meanwhile.
class AllTelemetry {
 public:
  explicit AllTelemetry(const PeerCopies& copies) : readers_(copies.size()) {
    const nvml::Library* library = nvml::shared_library().get();
    for (Place place = 0; library != nullptr && place < copies.size(); ++place) {
      try {
        readers_[place] = std::make_unique<nvml::Telemetry>(
            *library, library->device(copies.gpu(place).info().uuid));
      } catch (const std::runtime_error&) {
        readers_[place].reset();  // it has fallen off the bus, which its copies tell
      }
    }
  }
  void add_to(Json& detail, Place place) {
    if (readers_[place]) {
      detail["gpu"] = readers_[place]->finish().detail;
    } else if (!nvml::shared_library().why().empty()) {
      detail["not_measured"].push_back({{"what", "clocks, temperature, power, errors of the GPU"},
                                        {"reason", nvml::shared_library().why()}});
    }
  }

 private:
  std::vector<std::unique_ptr<nvml::Telemetry>> readers_;
};

// What the results say of each GPU, as the answer has it.
class DeviceOutcomes {
 public:
  DeviceOutcomes(const PeerCopies& copies, const PeerResults& results)
      : copies_(copies), results_(results) {
    std::vector<PeerCopy> false_copies;
    for (const FalseCopy& one : results.false_copies) {
      false_copies.push_back(one.copy);
    }
    blamed_ = blamed_for(false_copies, copies.size());
  }

  Json outcome_of(Place place, AllTelemetry& telemetry) const {
    const PeerFigures figures = figures_of(results_.rates, place);
    Json outcome = status_of(place, figures);
    outcome["uuid"] = copies_.gpu(place).info().uuid;
    outcome["values"] = values_to_json(values_of(figures));
    outcome["detail"] = detail_of(place, figures);
    telemetry.add_to(outcome["detail"], place);
    return outcome;
  }

 private:
  static Values values_of(const PeerFigures& figures) {
    Measurement measurement;
    measurement.values = {
        figures.read, figures.write,
        figures.lowest ? std::optional(figures.lowest->bytes_per_s) : std::nullopt};
    check_values(measurement);
    return std::move(measurement.values);
  }

  static Json status_json(Status status, const std::string& reason) {
    return {{"status", to_string(status)}, {"reason", reason}};
  }

  Json status_of(Place place, const PeerFigures& figures) const {
    if (std::ranges::find(blamed_, place) != blamed_.end()) {
      return status_json(Status::wrong, false_texts(place).front());
    }
    if (const auto& trouble = results_.troubles[place]) {
      return status_json(trouble->status, trouble->reason);
    }
    if (results_.broken_off) {
      return status_json(Status::skipped, "not measured to the end, for another GPU's sake: " +
                                              *results_.broken_off);
    }
    if (!figures.lowest && has_peer(place)) {
      return status_json(Status::skipped, "none of its peers could be measured with it");
    }
    return status_json(Status::ok, "");
  }

  bool has_peer(Place place) const {
    for (Place other = 0; other < copies_.size(); ++other) {
      if (other != place && !copies_.why_no_peers(place, other)) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::string> false_texts(Place place) const {
    std::vector<std::string> texts;
    for (const FalseCopy& one : results_.false_copies) {
      if (one.copy.by == place || one.copy.other == place) {
        texts.push_back(one.text);
      }
    }
    return texts;
  }

  const std::string& address(Place place) const { return copies_.gpu(place).info().pci_address; }

  Json detail_of(Place place, const PeerFigures& figures) const {
    Json detail{
        {"address", address(place)}, {"read_from", Json::object()}, {"write_to", Json::object()}};
    for (const PeerRate& rate : results_.rates) {
      if (rate.copy.by == place) {
        detail[name_of(rate.copy.way)][address(rate.copy.other)] = rate.bytes_per_s;
      }
    }
    if (figures.lowest) {
      const PeerRate& rate = figures.lowest->rate;
      detail["lowest"] = {{"way", name_of(rate.copy.way)},
                          {"address", address(rate.copy.other)},
                          {"bytes_per_s", rate.bytes_per_s}};
    }
    if (const auto texts = false_texts(place); !texts.empty()) {
      detail["false"] = texts;
    }
    add_missing_peers(detail, place);
    return detail;
  }

  void add_missing_peers(Json& detail, Place place) const {
    std::set<std::string> reasons;
    for (Place other = 0; other < copies_.size(); ++other) {
      if (const auto& why = copies_.why_no_peers(place, other)) {
        detail["no_peers"].push_back(address(other));
        reasons.insert(*why);
      }
    }
    for (const std::string& reason : reasons) {
      detail["not_measured"].push_back(
          {{"what", "copies between some of the GPUs"}, {"reason", reason}});
    }
  }

  const PeerCopies& copies_;
  const PeerResults& results_;
  std::vector<Place> blamed_;
};

class PreparedPeerCopy : public Prepared {
 public:
  PreparedPeerCopy(const std::vector<GpuInfo>& gpus, const Json& params)
      : copies_(gpus, params.at("bytes").get<std::size_t>(), copy_plan_from(params)) {
    if (!copies_.has_peers()) {
      throw NotAvailable(fmt::format("none of the {} GPUs is a peer of another one: {}",
                                     copies_.size(), *copies_.why_no_peers(0, 1)));
    }
  }

  Measurement measure() override {
    const NvtxRange range(kName);
    AllTelemetry telemetry(copies_);
    const PeerResults results = copies_.run();
    const DeviceOutcomes outcomes(copies_, results);
    Measurement measurement;
    measurement.detail = {{"devices", Json::array()}};
    for (Place place = 0; place < copies_.size(); ++place) {
      measurement.detail["devices"].push_back(outcomes.outcome_of(place, telemetry));
    }
    return measurement;
  }

 private:
  PeerCopies copies_;
};

class GpuPeerCopy : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = kName,
            .summary = "copies between every two GPUs of a node, as nvbandwidth measures them",
            .layer = Layer::copy,
            .participants = Participants::node,
            .params_schema = params_schema(),
            .all_gpus = true};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {
        metric("device_to_device_memcpy_read_ce",
               "a GPU reads from another one: the median over its peers"),
        metric("device_to_device_memcpy_write_ce",
               "a GPU writes to another one: the median over its peers"),
        metric("device_to_device_memcpy_ce.lowest",
               "the slowest path of a GPU to a peer, without what that peer is slower by with all "
               "others; a slow path shows at both its ends")};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    return std::make_unique<PreparedPeerCopy>(gpus_of_node(work, HostFiles()), params);
  }

 private:
  static Json params_schema() {
    Json properties = copy_plan_properties(512);
    properties["bytes"] = Json::parse(R"({
      "description": "size of a copy; two buffers of it on each GPU",
      "type": "integer", "minimum": 4096, "maximum": 17179869184, "multipleOf": 4096, "default": 536870912
    })");
    properties["longest_s"] = Json::parse(R"({
      "description": "seconds that the copies of a sample may take before their path is given up",
      "type": "number", "exclusiveMinimum": 0, "maximum": 3600, "default": 10
    })");
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
  }

  static MetricInfo metric(const std::string& name, const std::string& description) {
    return {
        .name = name,
        .unit = "B/s",
        .better = Better::higher,
        .layer = Layer::copy,
        .subject = SubjectKind::device,
        .description = description,
        .next_check =
            "which path: `detail.lowest`, `read_from` and `write_to` of the sample in "
            "journal.jsonl name the other GPU; on the node: `nvidia-smi nvlink -s`, `nvidia-smi "
            "nvlink -e` (a link that is down, replays, CRC errors), `nvidia-smi topo -m`, "
            "`dmesg | grep -i -e nvswitch -e xid`; without NVLink: ACS and IOMMU, `lspci -vv -s "
            "ADDRESS` (LnkSta)"};
  }
};

}  // namespace

std::unique_ptr<Probe> make_gpu_peer_copy() { return std::make_unique<GpuPeerCopy>(); }

}  // namespace fleetbench::gpu
