// Storage as training uses it: big files, small files, random reads, shards, checkpoints, each a
// profile (probes/storage/). fio does what it can do; its figures are its own, of the time in which
// its jobs ran. Only files in a scratch folder of its own are touched, never a device.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "probes/fio/fio_run.hpp"
#include "probes/registry.hpp"
#include "probes/storage/data_files.hpp"
#include "probes/storage/fio_measurement.hpp"
#include "probes/storage/limit.hpp"
#include "probes/storage/params.hpp"
#include "probes/storage/profile.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/scratch.hpp"

namespace fleetbench {

std::unique_ptr<Profile> make_profile(const std::string& name, const Json& params) {
  if (name == "sequential") {
    return make_sequential(params);
  }
  if (name == "small_files") {
    return make_small_files(params);
  }
  if (name == "random_read") {
    return make_random_read(params);
  }
  return name == "shards" ? make_shards(params) : make_checkpoint(params);
}

namespace {

namespace fs = std::filesystem;

std::vector<std::unique_ptr<Profile>> profiles_of(const Json& params) {
  std::vector<std::unique_ptr<Profile>> profiles;
  for (const auto& name : params.at("profiles")) {
    profiles.push_back(make_profile(name.get<std::string>(), params));
  }
  return profiles;
}

bool has(const Json& params, const char* profile) {
  const Json& names = params.at("profiles");
  return std::find(names.begin(), names.end(), profile) != names.end();
}

bool compares_small_with_sequential(const Json& params) {
  return has(params, "small_files") && has(params, "sequential");
}

fs::path parent_of(const Json& params) {
  const auto directory = params.at("directory").get<std::string>();
  return directory.empty() ? default_scratch_parent() : fs::path(directory);
}

IoDemand demand_of(const std::vector<std::unique_ptr<Profile>>& profiles) {
  IoDemand all;
  for (const auto& profile : profiles) {
    const IoDemand one = profile->demand();
    all.disk_bytes += one.disk_bytes;
    all.operations += one.operations;
    all.bytes += one.bytes;
  }
  return all;
}

class PreparedStorage : public Prepared {
 public:
  explicit PreparedStorage(const Json& params)
      : params_(params), parent_(parent_of(params)), profiles_(profiles_of(params)) {
    tell_where("storage", parent_, "looking");
    site_.volume = volume_of(site_.files, parent_);
    require_permission(site_.volume, parent_, params.at("shared").get<bool>());
    if (std::any_of(profiles_.begin(), profiles_.end(),
                    [](const auto& profile) { return profile->needs_fio(); })) {
      require_fio();
    }
    scratch_.emplace(parent_);
    site_.folder = scratch_->path();
    site_.fio_limit_s = params.at("fio_limit_s").get<double>();
    require_free_space(site_.folder, demand_of(profiles_).disk_bytes,
                       params.at("share_of_free").get<double>());
    direct_ = direct_io_works(site_.folder);
    require_something();
    for (const auto& profile : profiles_) {
      if (can_measure(*profile)) {
        tell_where("storage", parent_, profile->name());
        profile->lay_out(site_);
      }
    }
  }

  Measurement measure() override {
    Measurement measurement;
    Json volume = site_.volume.facts;
    volume["free_bytes"] = free_space(site_.folder);
    volume["direct_io"] = direct_;
    const auto before = nfs_counters_now(site_.files, site_.volume);
    for (const auto& profile : profiles_) {
      measure_profile(*profile, measurement);
    }
    const auto after = nfs_counters_now(site_.files, site_.volume);
    if (before && after) {
      volume["nfs"] = nfs_activity(*before, *after);
    }
    for (const char* fact : {"fs_type", "options", "mount_point", "medium", "direct_io"}) {
      measurement.detail["facts"][fact] = volume.value(fact, Json());
    }
    measurement.detail["volume"] = std::move(volume);
    compare(measurement);
    return measurement;
  }

 private:
  bool can_measure(const Profile& profile) const { return direct_ || !profile.needs_direct_io(); }

  std::string why_not() const {
    return fmt::format("{} is on {}, which cannot be read past the cache (O_DIRECT)",
                       printable_text(parent_.string()), site_.volume.fs_type);
  }

  void require_something() const {
    if (std::none_of(profiles_.begin(), profiles_.end(),
                     [&](const auto& profile) { return can_measure(*profile); })) {
      throw NotAvailable(why_not() + ": name another folder with --scratch");
    }
  }

  void measure_profile(Profile& profile, Measurement& measurement) {
    if (!can_measure(profile)) {
      measurement.values.resize(measurement.values.size() + profile.metrics().size());
      measurement.detail["not_measured"].push_back(
          {{"what", profile.name()}, {"reason", why_not()}});
      return;
    }
    tell_where("storage", parent_, profile.name());
    require_folder();
    Outcome outcome = profile.measure(site_);
    measurement.values.insert(measurement.values.end(), outcome.values.begin(),
                              outcome.values.end());
    measurement.detail[profile.name()] = std::move(outcome.detail);
    rates_[profile.name()] = outcome.read_bytes_per_s;
  }

  void require_folder() const {
    std::error_code error;
    if (!fs::is_directory(site_.folder, error)) {
      throw std::runtime_error(fmt::format(
          "{} was removed while storage was measured in it: keep cleaners away from it, or name "
          "another folder with --scratch",
          printable_text(site_.folder.string())));
    }
  }

  void compare(Measurement& measurement) {
    if (has(params_, "small_files")) {
      const auto verdict = small_file_limit(*rates_["small_files"], rates_["sequential"]);
      measurement.detail["small_files"]["limit"] = to_string(verdict.limit);
      measurement.detail["small_files"]["limit_because"] = verdict.why;
    }
    if (compares_small_with_sequential(params_)) {
      const auto sequential = rates_["sequential"];
      measurement.values.push_back(sequential ? std::optional(*rates_["small_files"] / *sequential)
                                              : std::nullopt);
    }
  }

  Json params_;
  fs::path parent_;
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::optional<Scratch> scratch_;
  Site site_;
  bool direct_ = false;
  std::map<std::string, std::optional<double>> rates_;
};

class Storage : public Probe {
 public:
  ProbeInfo info() const override {
    return {
        .name = "storage",
        .summary = "big files, small files, random reads, shards, checkpoints in a folder (fio)",
        .layer = Layer::storage,
        .participants = Participants::node,
        .params_schema = storage_params_schema(),
        .programs = {"fio"}};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    std::vector<MetricInfo> all;
    for (const auto& profile : profiles_of(params)) {
      for (MetricInfo& metric : profile->metrics()) {
        all.push_back(std::move(metric));
      }
    }
    if (compares_small_with_sequential(params)) {
      all.push_back(storage_metric(
          "small_to_sequential", "1", Better::higher, false,
          "bytes a second read from small files, as a share of sequential.read",
          "where it is far below other nodes' the trouble is with metadata, not with bytes"));
    }
    return all;
  }

  // Sizes are in the parameters, so nothing is tried: a path that hangs on this node would hold up
  // the run. What one node does in a slot, for a budget of the whole fleet.
  Json calibrate(const Json& params) const override {
    const IoDemand demand = demand_of(profiles_of(params));
    return {{"operations", demand.operations}, {"bytes", demand.bytes}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& /*work*/) const override {
    return std::make_unique<PreparedStorage>(params);
  }
};

}  // namespace

std::unique_ptr<Probe> make_storage() { return std::make_unique<Storage>(); }

}  // namespace fleetbench
