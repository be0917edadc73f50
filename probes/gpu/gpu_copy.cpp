// Copies between a GPU and its host, and within the GPU, by the method and under the names of
// nvbandwidth.
#include <fmt/format.h>

#include <cstring>

#include "probes/gpu/copy_timer.hpp"
#include "probes/gpu/numa.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/gpu/registry.hpp"

namespace fleetbench::gpu {
namespace {

constexpr std::uint32_t kSeed = 0xC0FFEE;

std::uint64_t wrong_words_on_host(const std::byte* data, std::size_t bytes) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < bytes / sizeof(std::uint32_t); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    wrong += word != mixed(kSeed, i) ? 1U : 0U;
  }
  return wrong;
}

class PreparedCopy : public Prepared {
 public:
  PreparedCopy(const Gpu& gpu, const Json& params)
      : gpu_(gpu),
        plan_(copy_plan_from(params)),
        bytes_(params.at("bytes").get<std::size_t>()),
        sides_(numa_sides(gpu.info(), topology_, HostFiles())),
        pattern_(gpu),
        from_(gpu, bytes_),
        to_(gpu, bytes_),
        host_from_(gpu, bytes_, topology_, sides_.near),
        host_to_(gpu, bytes_, topology_, sides_.near),
        timer_(gpu, plan_) {
    make_far_memory();
    pattern_.fill(from_.get(), bytes_, kSeed);
    copy(host_from_.data(), from_.get());
    check_by_way_of(host_from_);
  }

  Measurement measure() override {
    const CopyRoute to_device{to_.get(), host_from_.data(), bytes_};
    const CopyRoute to_host{host_to_.data(), from_.get(), bytes_};
    clear();
    rate("host_to_device_memcpy_ce", to_device);
    rate("device_to_host_memcpy_ce", to_host);
    rate("host_to_device_bidirectional_memcpy_ce", to_device, to_host);
    rate("device_to_host_bidirectional_memcpy_ce", to_host, to_device);
    check_target("from the host to the device");
    check_by_way_of(host_to_);
    clear();
    rate("device_local_copy", {to_.get(), from_.get(), bytes_});
    check_target("within the device");
    measure_far();
    measured_.detail["bytes"] = bytes_;
    const auto lies_on = topology_.node_of(host_from_.data());
    measured_.detail["numa_near"] = sides_.near ? Json(*sides_.near) : Json();
    measured_.detail["numa_of_memory"] = lies_on ? Json(*lies_on) : Json();
    return std::exchange(measured_, {});
  }

 private:
  void rate(const std::string& name, const CopyRoute& route,
            const std::optional<CopyRoute>& against = {}) {
    const auto seconds = timer_.time(route, against);
    measured_.values.emplace_back(copy_rate(seconds, plan_.copies, bytes_));
    measured_.detail["sample_s"][name] = seconds;
  }

  // Where memory may not be placed (a container), what would be called far is near.
  void make_far_memory() {
    if (sides_.far) {
      far_.emplace(gpu_, bytes_, topology_, *sides_.far);
      if (topology_.node_of(far_->data()) != sides_.far) {
        far_.reset();
      }
    }
  }

  void measure_far() {
    if (!far_) {
      measured_.values.insert(measured_.values.end(), {std::nullopt, std::nullopt});
      return;
    }
    clear();
    rate("device_to_host_memcpy_ce.far", {far_->data(), from_.get(), bytes_});
    rate("host_to_device_memcpy_ce.far", {to_.get(), far_->data(), bytes_});
    check_target("from the far host memory to the device");
    check_by_way_of(*far_);
    measured_.detail["numa_far"] = *sides_.far;
  }

  void copy(void* to, const void* from) const {
    gpu_.check(cudaMemcpy(to, from, bytes_, cudaMemcpyDefault), "cudaMemcpy");
  }

  // `host` holds what was copied from the device; goes back to another place of it.
  void check_by_way_of(const PinnedMemory& host) {
    gpu_.check(cudaMemset(to_.get(), 0, bytes_), "cudaMemset");
    copy(to_.get(), host.data());
    const auto wrong = pattern_.wrong_words(to_.get(), bytes_, kSeed);
    if (wrong == 0) {
      return;
    }
    const auto wrong_on_host = wrong_words_on_host(host.data(), bytes_);
    complain(wrong_on_host > 0 ? "from the device to the host" : "from the host to the device",
             wrong_on_host > 0 ? wrong_on_host : wrong);
  }

  // What a copy does not write must not be there from one before it.
  void clear() {
    std::memset(host_to_.data(), 0, bytes_);
    if (far_) {
      std::memset(far_->data(), 0, bytes_);
    }
    gpu_.check(cudaMemset(to_.get(), 0, bytes_), "cudaMemset");
    gpu_.synchronize();
  }

  void check_target(const char* way) {
    const auto wrong = pattern_.wrong_words(to_.get(), bytes_, kSeed);
    if (wrong > 0) {
      complain(way, wrong);
    }
  }

  [[noreturn]] void complain(const char* way, std::uint64_t wrong) const {
    throw WrongResult(
        fmt::format("{} of {} words are false after a copy {}, on {}: data are "
                    "damaged on the way",
                    wrong, bytes_ / sizeof(std::uint32_t), way, gpu_.label()));
  }

  const Gpu& gpu_;
  CopyPlan plan_;
  std::size_t bytes_;
  MachineTopology topology_;
  NumaSides sides_;
  Pattern pattern_;
  DeviceMemory from_;
  DeviceMemory to_;
  PinnedMemory host_from_;
  PinnedMemory host_to_;
  std::optional<PinnedMemory> far_;
  CopyTimer timer_;
  Measurement measured_;
};

class GpuCopy : public Probe {
 public:
  explicit GpuCopy(const AssignedGpu& assigned) : assigned_(assigned) {}

  ProbeInfo info() const override {
    return {.name = "gpu_copy",
            .summary =
                "copies between each GPU and its host, one way and both, and within it, as "
                "nvbandwidth measures them",
            .layer = Layer::copy,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {metric("host_to_device_memcpy_ce", "host to device, memory of the near NUMA node"),
            metric("device_to_host_memcpy_ce", "device to host, memory of the near NUMA node"),
            metric("host_to_device_bidirectional_memcpy_ce",
                   "host to device while copies go the other way"),
            metric("device_to_host_bidirectional_memcpy_ce",
                   "device to host while copies go the other way"),
            local_metric(),
            metric("device_to_host_memcpy_ce.far",
                   "device to host, memory of a far NUMA node; absent where there is none or none "
                   "may be had"),
            metric("host_to_device_memcpy_ce.far",
                   "host to device, memory of a far NUMA node; absent where there is none or none "
                   "may be had")};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& /*work*/) const override {
    const Gpu& gpu = assigned_.select();
    return std::make_unique<PreparedCopy>(gpu, params);
  }

 private:
  static Json params_schema() {
    Json properties = copy_plan_properties(32);
    properties["bytes"] = Json::parse(R"({
      "description": "size of a copy; two buffers of it on the device and two or three on the host",
      "type": "integer", "minimum": 4096, "maximum": 17179869184, "multipleOf": 4096, "default": 536870912
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
            "on the node, under load: `nvidia-smi --query-gpu=index,pci.bus_id,"
            "pcie.link.gen.current,pcie.link.width.current --format=csv` against "
            "pcie.link.gen.max and pcie.link.width.max, `lspci -vv -s ADDRESS` (LnkSta, AER), "
            "`dmesg | grep -i -e pcie -e aer`; all GPUs of the node slow: IOMMU, ACS, "
            "`nvidia-smi topo -m`, memory of the host. Its copies, on {node}: `{gpu}nsys profile "
            "--trace=cuda,nvtx -o gpu_copy {run}`"};
  }

  static MetricInfo local_metric() {
    MetricInfo info =
        metric("device_local_copy", "from one place of the device to another; bytes counted once");
    info.layer = Layer::compute;
    info.next_check =
        "on the node: `nvidia-smi -q -d CLOCK,PERFORMANCE,ECC,ROW_REMAPPER`: memory clock, clock "
        "event reasons, remapped rows. Its copies, on {node}: `{gpu}nsys profile "
        "--trace=cuda,nvtx -o gpu_copy {run}`";
    return info;
  }

  const AssignedGpu& assigned_;
};

}  // namespace

std::unique_ptr<Probe> make_gpu_copy(const AssignedGpu& assigned) {
  return std::make_unique<GpuCopy>(assigned);
}

}  // namespace fleetbench::gpu
