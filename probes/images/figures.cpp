#include "probes/images/figures.hpp"

#include <fmt/format.h>

namespace fleetbench::images {
namespace {

MetricInfo rate(std::string_view who, bool judged, const std::string& description,
                const std::string& next_check) {
  return {.name = rate_name(who),
          .unit = "images/s",
          .better = Better::higher,
          .layer = Layer::input,
          .subject = SubjectKind::node,
          .judged = judged,
          .description = description,
          .next_check = next_check};
}

MetricInfo explaining(const std::string& name, const char* unit, const std::string& description,
                      const std::string& next_check) {
  return {.name = name,
          .unit = unit,
          .better = Better::lower,
          .layer = Layer::input,
          .subject = SubjectKind::node,
          .judged = false,
          .description = description,
          .next_check = next_check};
}

std::string form_text(Form form) {
  switch (form) {
    case Form::files:
      return "one file per image";
    case Form::tar:
      return "tar shards";
    case Form::tar_zst:
      return "zstd-compressed tar shards";
  }
  throw std::logic_error("form without a text");
}

void add_rates(std::vector<MetricInfo>& metrics, const std::vector<Form>& forms) {
  for (const Form form : forms) {
    metrics.push_back(
        rate(to_string(form), true,
             fmt::format("images read from {}, decoded, cropped, flipped, normalised and collated "
                         "by a worker on each usable core",
                         form_text(form)),
             "one_worker.images_per_s of the same node: where that is slow too, a core is (clock, "
             "throttling); where not, cores disturb each other or are missing: cgroup quota, "
             "cpuset, other processes, memory bandwidth. Then the stage that takes longest"));
  }
  metrics.push_back(rate("one_worker", true,
                         fmt::format("the same by one worker, from {}", form_text(forms.front())),
                         "CPU clock and governor (`cpupower frequency-info`), thermal throttling "
                         "(`dmesg`), other processes (`top`); then the stage that takes longest"));
}

void add_stages(std::vector<MetricInfo>& metrics, const std::vector<Form>& forms) {
  for (const Form form : forms) {
    metrics.push_back(
        explaining(read_name(form), "s",
                   fmt::format("time to read an image from {}, all cores at it", form_text(form)),
                   "page_cache_share; then the storage probes of this node"));
  }
  for (const Stage stage : {Stage::decode, Stage::crop, Stage::normalise, Stage::collate}) {
    metrics.push_back(explaining(
        std::string(to_string(stage)), "s",
        fmt::format("time of the stage `{}` for an image, all cores at it", to_string(stage)),
        stage == Stage::collate ? "memory bandwidth of this node"
                                : "CPU clock, and cpu_gemm of this node"));
  }
}

void add_shares(std::vector<MetricInfo>& metrics) {
  metrics.push_back(explaining("idle_share", "1",
                               "share of their time that workers wait for room in "
                               "the queue",
                               "the consumer is the slower one: is its core taken?"));
  auto cache = explaining("page_cache_share", "1",
                          "share of the bytes read that were in the page cache (/proc/self/io)",
                          "free memory, and the cgroup's limit, which counts cached pages");
  cache.better = Better::higher;
  metrics.push_back(std::move(cache));
}

void add_asked_for(std::vector<MetricInfo>& metrics, const Json& params) {
  if (params.at("sweep").get<bool>()) {
    metrics.push_back(explaining("saturation_workers", "1",
                                 "fewest workers that reach 95 % of the best rate of 1, 2, 4, ... "
                                 "all cores",
                                 "the sweep in the journal: where does the rate stop growing?"));
  }
  if (params.at("numa").get<bool>()) {
    for (const char* where : {"near", "far"}) {
      metrics.push_back(rate(where, false,
                             fmt::format("workers on the cores of one NUMA node, their buffers in "
                                         "memory {} it; absent where there is one node",
                                         std::string(where) == "near" ? "of" : "far from"),
                             "memory population and interleaving (`numactl --hardware`)"));
    }
  }
  if (params.at("step_ms").get<double>() > 0) {
    for (const char* name : {"wait_p50", "wait_p99"}) {
      metrics.push_back(explaining(
          name, "s",
          fmt::format("{} of what a consumer that takes a batch every step_ms waits for it",
                      std::string(name) == "wait_p50" ? "median" : "99th percentile"),
          "the rates of this node: do they cover a batch every step?"));
    }
  }
}

}  // namespace

std::string rate_name(std::string_view who) { return fmt::format("{}.images_per_s", who); }

std::string read_name(Form form) { return fmt::format("{}.read", to_string(form)); }

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::read:
      return "read";
    case Stage::decode:
      return "decode";
    case Stage::crop:
      return "crop";
    case Stage::normalise:
      return "normalise";
    case Stage::collate:
      return "collate";
    case Stage::idle:
      return "idle";
  }
  throw std::logic_error("stage without a name");
}

std::vector<Form> forms_of(const Json& params) {
  std::vector<Form> forms;
  for (const auto& form : params.at("forms")) {
    forms.push_back(parse_form(form.get<std::string>()));
  }
  return forms;
}

std::vector<MetricInfo> figures(const Json& params) {
  const auto forms = forms_of(params);
  std::vector<MetricInfo> metrics;
  add_rates(metrics, forms);
  add_stages(metrics, forms);
  add_shares(metrics);
  add_asked_for(metrics, params);
  return metrics;
}

Json params_schema() {
  return Json::parse(R"({
    "type": "object", "additionalProperties": false,
    "properties": {
      "directory": {
        "description": "folder on each node in which the data set is made; empty: $TMPDIR, else /var/tmp",
        "type": "string", "default": ""
      },
      "shared": {
        "description": "make it on a network or cluster file system, which all nodes load together; without this such a folder is left alone",
        "type": "boolean", "default": false
      },
      "share_of_free": {
        "description": "the data set takes at most this share of what is free there",
        "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.05
      },
      "images": {
        "description": "size of the data set: a multiple of 16; about 180 kB an image and form",
        "type": "integer", "minimum": 16, "maximum": 1048576, "multipleOf": 16, "default": 256
      },
      "png_share": {
        "description": "share of the images that are PNG; the others are JPEG",
        "type": "number", "minimum": 0, "maximum": 1, "default": 0.125
      },
      "forms": {
        "description": "how the images lie on disk; one_worker, sweep, numa and step_ms use the first",
        "type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true,
        "items": {"type": "string", "enum": ["files", "tar", "tar_zst"]},
        "default": ["files", "tar", "tar_zst"]
      },
      "workers": {
        "description": "threads that load; 0: one for each usable core",
        "type": "integer", "minimum": 0, "maximum": 4096, "default": 0
      },
      "batch": {
        "description": "images in a batch",
        "type": "integer", "minimum": 1, "maximum": 1024, "default": 16
      },
      "prefetch": {
        "description": "batches that each worker may be ahead of the consumer",
        "type": "integer", "minimum": 1, "maximum": 64, "default": 2
      },
      "crop": {
        "description": "pixels of each side of what a training step gets",
        "type": "integer", "minimum": 8, "maximum": 1024, "default": 224
      },
      "seconds": {
        "description": "how long each figure takes on the calibrating node",
        "type": "number", "minimum": 0.01, "maximum": 600, "default": 0.5
      },
      "sweep": {
        "description": "also with 1, 2, 4, ... workers up to all",
        "type": "boolean", "default": false
      },
      "numa": {
        "description": "also with workers on one NUMA node and memory on the same or another",
        "type": "boolean", "default": false
      },
      "step_ms": {
        "description": "when above 0: also what a consumer waits that takes a batch every step_ms",
        "type": "number", "minimum": 0, "maximum": 60000, "default": 0
      },
      "steps": {
        "description": "batches that this consumer takes",
        "type": "integer", "minimum": 1, "maximum": 100000, "default": 100
      },
      "cold": {
        "description": "take the files out of the page cache before each figure; no image is read twice in one where `images` suffices",
        "type": "boolean", "default": false
      }
    }
  })");
}

}  // namespace fleetbench::images
