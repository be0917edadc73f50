#include "probes/gpu/with_telemetry.hpp"

#include "probes/gpu/nvml/shared_library.hpp"
#include "probes/gpu/nvml/telemetry.hpp"
#include "probes/gpu/nvtx_range.hpp"

namespace fleetbench::gpu {
namespace {

MetricInfo covariate(const char* name, const char* unit, const char* description) {
  return {.name = name,
          .unit = unit,
          .layer = Layer::compute,
          .subject = SubjectKind::device,
          .judged = false,
          .description = description,
          .covariate = true};
}

class PreparedWithTelemetry : public Prepared {
 public:
  PreparedWithTelemetry(std::string name, std::unique_ptr<Prepared> prepared, std::string uuid)
      : name_(std::move(name)), prepared_(std::move(prepared)), uuid_(std::move(uuid)) {}

  Measurement measure() override {
    const nvml::Library* library = nvml::shared_library().get();
    if (library == nullptr) {
      return without(nvml::shared_library().why());
    }
    std::optional<nvml::Telemetry> telemetry;
    try {
      telemetry.emplace(*library, library->device(uuid_));
    } catch (const std::runtime_error& error) {
      return without(error.what());
    }
    Measurement measurement = measured();
    nvml::Summary summary = telemetry->finish();
    measurement.values.insert(
        measurement.values.end(),
        {summary.sm_clock_hz, summary.memory_clock_hz, summary.temperature_c, summary.power_w});
    measurement.detail["gpu"] = std::move(summary.detail);
    return measurement;
  }

 private:
  Measurement measured() {
    const NvtxRange range(name_);
    return prepared_->measure();
  }

  Measurement without(const std::string& reason) {
    Measurement measurement = measured();
    measurement.values.resize(measurement.values.size() + 4);
    measurement.detail["not_measured"].push_back(
        {{"what", "clocks, temperature, power, errors of the GPU"}, {"reason", reason}});
    return measurement;
  }

  std::string name_;
  std::unique_ptr<Prepared> prepared_;
  std::string uuid_;
};

class WithTelemetry : public Probe {
 public:
  WithTelemetry(std::unique_ptr<Probe> probe, const AssignedGpu& assigned)
      : probe_(std::move(probe)), assigned_(assigned) {}

  ProbeInfo info() const override { return probe_->info(); }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    auto metrics = probe_->metrics(params);
    metrics.push_back(covariate("sm_clock", "Hz", "clock of the multiprocessors, under load"));
    metrics.push_back(covariate("memory_clock", "Hz", "clock of the memory, under load"));
    metrics.push_back(covariate("temperature", "°C", "of the chip, under load"));
    metrics.push_back(covariate("power", "W", "that the GPU takes, under load"));
    return metrics;
  }

  Json calibrate(const Json& params) const override { return probe_->calibrate(params); }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    const std::string uuid = assigned_.select().info().uuid;
    return std::make_unique<PreparedWithTelemetry>(info().name, probe_->prepare(params, work),
                                                   uuid);
  }

 private:
  std::unique_ptr<Probe> probe_;
  const AssignedGpu& assigned_;
};

}  // namespace

std::unique_ptr<Probe> with_telemetry(std::unique_ptr<Probe> probe, const AssignedGpu& assigned) {
  return std::make_unique<WithTelemetry>(std::move(probe), assigned);
}

}  // namespace fleetbench::gpu
