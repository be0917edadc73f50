#include "probes/fio/fio_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "probes/fio/fio_document.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJobs = 4096;
constexpr std::size_t kOtherText_bytes = 4096;
constexpr double kKib = 1024;

// A number that is finite and not negative.
std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    return std::nullopt;
  }
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

const Json& member(const Json& object, const char* key) {
  static const Json nothing = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : nothing;
}

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable_text(found->get<std::string>())
                                                     : "";
}

struct Latencies {
  const Json& values;
  double unit_ns;
};

// fio 3 calls it clat_ns; fio 2 calls it clat and counts microseconds.
Latencies latencies(const Json& direction, const std::string& name) {
  const Json& in_ns = member(direction, (name + "_ns").c_str());
  return in_ns.empty() ? Latencies{member(direction, name.c_str()), 1000} : Latencies{in_ns, 1};
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::map<double, double> percentiles(const Latencies& clat) {
  std::map<double, double> result;
  for (const auto& [key, value] : member(clat.values, "percentile").items()) {
    const auto percent = leading_number(key);
    // fio 2 fills its list up with "0.00".
    if (percent && *percent > 0 && value.is_number() && value.get<double>() >= 0) {
      result[*percent] = value.get<double>() * clat.unit_ns;
    }
  }
  return result;
}

bool did_nothing(const Json& direction) {
  return number(direction, "total_ios") == 0 && number(direction, "io_bytes").value_or(0) == 0;
}

// Nothing where a figure that every direction has is missing, negative or no number.
std::optional<FioDirection> read_direction(const Json& json) {
  // Both keys came with fio 2.99, in which io_bytes became bytes.
  const bool counts_bytes = json.contains("io_kbytes") || json.contains("bw_bytes");
  const auto io_bytes = scaled(number(json, "io_bytes"), counts_bytes ? 1 : kKib);
  const auto bw =
      json.contains("bw_bytes") ? number(json, "bw_bytes") : scaled(number(json, "bw"), kKib);
  const auto iops = number(json, "iops");
  const auto total_ios = number(json, "total_ios");
  const auto runtime_s = scaled(number(json, "runtime"), 1e-3);
  if (!io_bytes || !bw || !iops || !total_ios || !runtime_s) {
    return std::nullopt;
  }
  const Latencies clat = latencies(json, "clat");
  const Latencies lat = latencies(json, "lat");
  return FioDirection{.io_bytes = *io_bytes,
                      .bw_bytes_per_s = *bw,
                      .iops = *iops,
                      .total_ios = *total_ios,
                      .runtime_s = *runtime_s,
                      .lat_mean_ns = scaled(number(lat.values, "mean"), lat.unit_ns),
                      .clat_mean_ns = scaled(number(clat.values, "mean"), clat.unit_ns),
                      .clat_samples = number(clat.values, "N"),
                      .clat_percentiles_ns = percentiles(clat)};
}

std::optional<FioSteadyState> read_steadystate(const Json& job) {
  const Json& block = member(job, "steadystate");
  const Json& data = member(block, "data");
  const auto bw = number(data, "bw_mean");  // bytes per second, unlike every other bw
  const auto iops = number(data, "iops_mean");
  if (!bw || !iops) {
    return std::nullopt;
  }
  return FioSteadyState{number(block, "attained").value_or(0) != 0, *bw, *iops};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), document_(find_fio_document(text)) {}

  FioOutput read() {
    if (document_.json.is_null()) {
      add_error(line_of(text_, document_.problem_at), document_.problem_kind, document_.problem);
      output_.other_text = printable_text(trimmed(text_.substr(0, kOtherText_bytes)));
      return std::move(output_);
    }
    std::string version = text_member(document_.json, "fio version");
    output_.version = version.starts_with("fio-") ? version.substr(4) : version;
    output_.other_text = other_text();
    const Json& jobs = document_.json.at("jobs");
    if (!jobs.is_array() || jobs.empty() || jobs.size() > kMaxJobs) {
      add_error(json_line(), jobs.size() > kMaxJobs ? "too_many" : "no_rows",
                fmt::format("\"jobs\" is no list of 1 to {}", kMaxJobs));
      return std::move(output_);
    }
    for (const Json& job : jobs) {
      read_job(job);
    }
    return std::move(output_);
  }

 private:
  int json_line() const { return line_of(text_, document_.begin); }

  void add_error(int line, std::string kind, const std::string& words, int error = 0) {
    output_.errors.push_back({line, std::move(kind), printable_text(words), error});
  }

  std::string other_text() const {
    const auto before = trimmed(text_.substr(0, document_.begin));
    const auto after = trimmed(text_.substr(document_.end));
    const auto all =
        fmt::format("{}{}{}", before, before.empty() || after.empty() ? "" : "\n", after);
    std::string shown;
    for (const auto line : split(std::string_view(all).substr(0, kOtherText_bytes), '\n')) {
      shown += (shown.empty() ? "" : "\n") + printable_text(line);
    }
    return shown;
  }

  void read_job(const Json& json) {
    FioJob job;
    if (!json.is_object()) {
      add_error(json_line(), "bad_line", "a job is no object");
      return;
    }
    job.name = text_member(json, "jobname");
    job.group = member(document_.json, "global options").contains("group_reporting") ||
                member(json, "job options").contains("group_reporting");
    const auto error = number(json, "error");
    if (!error) {
      add_error(json_line(), "bad_number", fmt::format("job {}: no \"error\"", job.name));
    } else if (*error != 0) {
      fail(job, *error < 4096 ? static_cast<int>(*error) : EIO);
    } else {
      job.steadystate = read_steadystate(json);
      for (const char* name : {"read", "write", "trim", "mixed"}) {
        add_direction(job, name, json);
      }
      if (number(member(json, "sync"), "total_ios") == 0) {
        job.no_data.emplace_back("sync");
      }
    }
    output_.jobs.push_back(std::move(job));
  }

  void add_direction(FioJob& job, const char* name, const Json& json) {
    const Json& direction = member(json, name);
    if (direction.empty()) {
      return;
    }
    if (did_nothing(direction)) {
      job.no_data.emplace_back(name);
    } else if (auto read = read_direction(direction)) {
      job.directions.emplace(name, std::move(*read));
    } else {
      add_error(json_line(), "bad_number",
                fmt::format("job {}: {} has a figure that is missing, negative or no number",
                            job.name, name));
    }
  }

  // The line on which fio says what went wrong, or else where its JSON begins.
  void fail(FioJob& job, int error) {
    job.error = error;
    const char* name = strerrorname_np(error);
    job.error_name = name != nullptr ? name : fmt::format("error {}", error);
    std::string words =
        fmt::format("job {}: {} ({})", job.name, std::strerror(error), job.error_name);
    int line = json_line();
    int number_of_line = 0;
    for (const auto candidate : split(text_.substr(0, document_.begin), '\n')) {
      ++number_of_line;
      if (candidate.find(fmt::format("err={}/", error)) != std::string_view::npos) {
        line = number_of_line;
        words += fmt::format("; {}", trimmed(candidate));
        break;
      }
    }
    add_error(line, "failed", words, error);
  }

  std::string_view text_;
  FioDocument document_;
  FioOutput output_;
};

}  // namespace

std::optional<double> FioDirection::clat_ns(double percentile) const {
  for (const auto& [percent, value] : clat_percentiles_ns) {
    if (std::abs(percent - percentile) < 1e-6) {
      return value;
    }
  }
  return std::nullopt;
}

const FioJob* FioOutput::find(std::string_view job) const {
  for (const FioJob& candidate : jobs) {
    if (candidate.name == job) {
      return &candidate;
    }
  }
  return nullptr;
}

FioOutput read_fio_output(std::string_view text) { return Reader(text).read(); }

}  // namespace fleetbench
