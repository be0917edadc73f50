// Images a second of a loader as training jobs use it: a pool of workers with a prefetch queue that
// read JPEG and PNG files or tar shards, decode (libjpeg-turbo, libpng), take a random resized
// crop, flip, normalise and collate; the method of PyTorch's DataLoader with torchvision's
// transforms, with threads for processes. The data set is made on the spot, the same on every node.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "probes/images/figures.hpp"
#include "probes/images/numa_pair.hpp"
#include "probes/images/throughput.hpp"
#include "probes/images/verify.hpp"
#include "probes/registry.hpp"
#include "probes/support/scratch.hpp"
#include "probes/support/usable_cores.hpp"
#include "probes/support/volume.hpp"

namespace fleetbench {
namespace {

using namespace images;

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kWindows = 5;
constexpr int kCalibrationWindows = 3;
constexpr double kSaturated = 0.95;

ImageSetSpec spec_of(const Json& params) {
  return {.directory = params.at("directory").get<std::string>(),
          .forms = forms_of(params),
          .images = params.at("images").get<int>(),
          .png_share = params.at("png_share").get<double>(),
          .share_of_free = params.at("share_of_free").get<double>()};
}

LoaderOptions options_of(const Json& params, int workers) {
  return {.workers = workers,
          .batch = params.at("batch").get<int>(),
          .prefetch = params.at("prefetch").get<int>(),
          .crop = params.at("crop").get<int>()};
}

int workers_of(const Json& params) {
  const int asked = params.at("workers").get<int>();
  return asked > 0 ? asked : usable_cores();
}

// For the journal, which keeps it for each sample.
double rounded(double rate) { return std::round(rate * 10) / 10; }

class PreparedLoading : public Prepared {
 public:
  PreparedLoading(std::shared_ptr<const ImageSet> set, const Json& params, const Json& work)
      : set_(std::move(set)),
        params_(params),
        all_workers_(workers_of(params)),
        // What every node does, whatever the number of its own cores.
        batches_(work.at("batches_per_worker").get<int>() * work.at("workers").get<int>()),
        batches_per_worker_(work.at("batches_per_worker").get<int>()) {}

  Measurement measure() override {
    tell_where("image_decode", set_->folder(), "reading");
    values_.clear();
    windows_ = Json::object();
    sweep_ = Json::array();
    measure_forms();
    const Form form = set_->spec().forms.front();
    const auto one = run(form, options_of(params_, 1), batches_per_worker_);
    note("one_worker", one);
    if (params_.at("sweep").get<bool>()) {
      measure_sweep(form, one.images_per_s());
    }
    if (params_.at("numa").get<bool>()) {
      measure_numa(form);
    }
    if (params_.at("step_ms").get<double>() > 0) {
      measure_waits(form);
    }
    return result();
  }

 private:
  Throughput run(Form form, const LoaderOptions& options, int batches) {
    if (params_.at("cold").get<bool>()) {
      set_->drop_from_page_cache(form);
    }
    return measure_throughput(*set_, form, options, kWindows, batches);
  }

  void note(const std::string& who, const Throughput& throughput) {
    values_[rate_name(who)] = throughput.images_per_s();
    for (const double rate : throughput.windows) {
      windows_[who].push_back(rounded(rate));
    }
  }

  // The first form gives the stages that all of them have in common.
  void measure_forms() {
    for (const Form form : set_->spec().forms) {
      const auto all = run(form, options_of(params_, all_workers_), batches_);
      note(std::string(to_string(form)), all);
      values_[read_name(form)] = all.stages.per_image(Stage::read);
      if (form != set_->spec().forms.front()) {
        continue;
      }
      for (const Stage stage : {Stage::decode, Stage::crop, Stage::normalise, Stage::collate}) {
        values_[std::string(to_string(stage))] = all.stages.per_image(stage);
      }
      values_["idle_share"] = all.stages.idle_share();
      values_["page_cache_share"] = all.page_cache_share;
    }
  }

  void measure_sweep(Form form, double one_worker) {
    std::map<int, double> rates{{1, one_worker},
                                {all_workers_, *values_.at(rate_name(to_string(form)))}};
    for (int workers = 2; workers < all_workers_; workers *= 2) {
      const auto rate = run(form, options_of(params_, workers), batches_per_worker_ * workers);
      rates[workers] = rate.images_per_s();
    }
    double best = 0;
    for (const auto& [workers, rate] : rates) {
      best = std::max(best, rate);
      sweep_.push_back({workers, rounded(rate)});
    }
    const auto enough = std::find_if(rates.begin(), rates.end(), [&](const auto& entry) {
      return entry.second >= kSaturated * best;
    });
    values_["saturation_workers"] = enough->first;
  }

  void measure_numa(Form form) {
    const auto pair = NumaPair::find();
    if (!pair) {
      return;
    }
    numa_ = {{"near", pair->near()}, {"far", pair->far()}, {"workers", pair->cores()}};
    for (const bool far : {false, true}) {
      malloc_trim(0);  // what the heap keeps lies where its last user was
      auto options = options_of(params_, pair->cores());
      options.on_start = [&] { pair->bind_this_thread(far); };
      note(far ? "far" : "near", run(form, options, batches_per_worker_ * pair->cores()));
    }
  }

  void measure_waits(Form form) {
    if (params_.at("cold").get<bool>()) {
      set_->drop_from_page_cache(form);
    }
    const auto waits = waits_of_consumer(*set_, form, options_of(params_, all_workers_),
                                         params_.at("steps").get<int>(),
                                         params_.at("step_ms").get<double>() / 1e3);
    values_["wait_p50"] = percentile(waits, 0.5);
    values_["wait_p99"] = percentile(waits, 0.99);
  }

  Measurement result() {
    Measurement measurement;
    for (const auto& metric : figures(params_)) {
      const auto found = values_.find(metric.name);
      measurement.values.push_back(found == values_.end() ? std::nullopt : found->second);
    }
    measurement.detail = {{"workers", all_workers_},
                          {"batches", batches_},
                          {"windows", std::move(windows_)},
                          {"mean_jpeg_bytes", std::round(set_->mean_jpeg_bytes())},
                          {"facts", {{"set_crc", fmt::format("{:08x}", set_->crc())}}}};
    if (!sweep_.empty()) {
      measurement.detail["sweep"] = std::move(sweep_);
    }
    if (!numa_.empty()) {
      measurement.detail["numa"] = std::move(numa_);
    }
    return measurement;
  }

  std::shared_ptr<const ImageSet> set_;
  Json params_;
  int all_workers_;
  int batches_;             // of a window, all workers together
  int batches_per_worker_;  // of a window
  std::map<std::string, std::optional<double>> values_;
  Json windows_ = Json::object();  // images/s
  Json sweep_ = Json::array();
  Json numa_ = Json::object();
};

class ImageDecode : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = "image_decode",
            .summary =
                "images/s of a training job's loader: read, decode, crop, collate; all cores "
                "and one",
            .layer = Layer::input,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override { return figures(params); }

  Json calibrate(const Json& params) const override {
    const auto set = checked_set(params);
    const auto rate = measure_throughput(*set, set->spec().forms.front(), options_of(params, 1),
                                         kCalibrationWindows, 1);
    const double batch_s = params.at("batch").get<double>() / rate.images_per_s();
    double batches = std::round(params.at("seconds").get<double>() / kWindows / batch_s);
    const int workers = workers_of(params);
    if (params.at("cold").get<bool>()) {
      const double in_set = params.at("images").get<double>() / params.at("batch").get<double>();
      batches = std::min(batches, std::floor((in_set / workers - 1) / kWindows));
    }
    return {{"batches_per_worker", static_cast<int>(std::max(1.0, batches))}, {"workers", workers}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    return std::make_unique<PreparedLoading>(checked_set(params), params, work);
  }

 private:
  // Makes the set where the last one was another, and reads all of it. One that turns out to be
  // damaged is not used again.
  std::shared_ptr<const ImageSet> checked_set(const Json& params) const {
    const std::lock_guard lock(mutex_);
    const auto spec = spec_of(params);
    const auto parent = spec.directory.empty() ? default_scratch_parent() : spec.directory;
    tell_where("image_decode", parent, "data set");
    require_permission(volume_of(HostFiles(), parent), parent, params.at("shared").get<bool>());
    const int threads = usable_cores();
    auto set = std::move(set_);
    if (!set || !(set->spec() == spec)) {
      set.reset();
      set = std::make_shared<const ImageSet>(spec, threads);
    }
    verify(*set, threads);
    set_ = set;
    return set;
  }

  // Kept from slot to slot: making it takes longer than measuring.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ImageSet> set_;
};

}  // namespace

std::unique_ptr<Probe> make_image_decode() { return std::make_unique<ImageDecode>(); }

}  // namespace fleetbench
