#include "harness/detect/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

bool is_of_device(const ReadingType& type) { return type.path.starts_with("/gpu/"); }

// Readings of one kind in one slot; several workers of a node read the same counters.
using BySlot = std::map<int, double>;

struct Raw {
  std::map<Reader, BySlot> slots;
  std::map<Reader, std::string> more;
};

using RawSeries = std::map<std::pair<std::size_t, std::string>, Raw>;  // type, key

std::optional<double> number_in(const Json& value) {
  if (value.is_boolean()) {
    return value.get<bool>() ? 1 : 0;
  }
  if (value.is_object()) {  // a summary of readings: its middle one
    const auto median = value.find("median");
    return median == value.end() || !median->is_number() ? std::nullopt
                                                         : std::optional(median->get<double>());
  }
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// Where most of a rise happened: " (0000:1b:00.0)".
std::string place_of(const Json& detail, const std::string& kind) {
  const Json::json_pointer pointer("/evidence/where");
  if (!detail.contains(pointer) || !detail.at(pointer).is_object()) {
    return "";
  }
  const Json& where = detail.at(pointer);
  const auto places = where.find(kind);
  std::string most;
  double count = 0;
  for (std::size_t i = 0; places != where.end() && places->is_object() && i < 1; ++i) {
    for (const auto& [place, rise] : places->get_ref<const Json::object_t&>()) {
      if (rise.is_number() && rise.get<double>() > count) {
        most = fmt::format(" ({})", place);
        count = rise.get<double>();
      }
    }
  }
  return most;
}

std::string links_besides(const Json& links) {
  const auto down = links.find("down");
  const auto up = links.find("up");
  const bool both = down != links.end() && up != links.end() && down->is_number_integer() &&
                    up->is_number_integer();
  return both ? fmt::format(" of {:.0f}", down->get<double>() + up->get<double>()) : "";
}

// Takes the readings of one sample.
class Taker {
 public:
  Taker(const SampleRecord& sample, RawSeries& raw) : sample_(sample), raw_(raw) {
    const auto& types = reading_types();
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!sample.device.empty() || !is_of_device(types[i])) {
        take(i, types[i]);
      }
    }
  }

 private:
  void take(std::size_t index, const ReadingType& type) {
    const bool each = type.path.ends_with("/*");
    const Json* value = &sample_.detail;
    std::string_view rest = type.path.substr(1, type.path.size() - (each ? 3 : 1));
    const Json* parent = value;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      parent = value;
      const auto found = value->is_object() ? value->find(part) : value->end();
      if (!value->is_object() || found == value->end()) {
        return;
      }
      value = &*found;
    }
    if (each) {
      take_each(index, *value);
    } else if (const auto number = number_in(*value)) {
      add(index, "", *number, more_of(type, *parent, *number));
    }
  }

  std::string more_of(const ReadingType& type, const Json& parent, double value) const {
    if (type.path == "/gpu/nvlinks/up") {
      return links_besides(parent);
    }
    const bool has_places =
        type.path.starts_with("/evidence/rises/") || type.path.starts_with("/evidence/rates/");
    return has_places && value > 0
               ? place_of(sample_.detail, std::string(type.path.substr(type.path.rfind('/') + 1)))
               : "";
  }

  void take_each(std::size_t index, const Json& values) {
    if (values.is_object()) {
      for (const auto& [key, value] : values.get_ref<const Json::object_t&>()) {
        if (const auto number = number_in(value); number && !is_told_elsewhere(index, key)) {
          add(index, key, *number, *number > 0 ? place_of(sample_.detail, key) : "");
        }
      }
    } else if (values.is_array()) {
      for (const Json& event : values) {
        add(index, event.is_string() ? event.get<std::string>() : event.dump(), 1, "");
      }
    }
  }

  // By a type of its own.
  static bool is_told_elsewhere(std::size_t index, const std::string& key) {
    const auto& types = reading_types();
    const std::string_view path = types[index].path;
    const std::string own = std::string(path.substr(0, path.size() - 1)) + key;
    return key == "context_switches" ||
           std::ranges::any_of(types, [&](const auto& type) { return type.path == own; });
  }

  void add(std::size_t index, const std::string& key, double value, std::string more) {
    const Reader reader{sample_.node, is_of_device(reading_types()[index]) ? sample_.device : ""};
    Raw& raw = raw_[{index, key}];
    const auto [place, is_new] = raw.slots[reader].try_emplace(sample_.slot, value);
    place->second = std::max(place->second, value);
    if (!more.empty()) {
      raw.more[reader] = std::move(more);
    }
  }

  const SampleRecord& sample_;
  RawSeries& raw_;
};

double reduced(ReadingKind kind, const BySlot& slots) {
  std::vector<double> values;
  double sum = 0;
  for (const auto& [slot, value] : slots) {
    values.push_back(value);
    sum += value;
  }
  switch (kind) {
    case ReadingKind::counter:
      return sum;
    case ReadingKind::total:
      return std::ranges::max(values);
    case ReadingKind::state:  // one that was read, not one between two
      std::ranges::nth_element(
          values, values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2));
      return values[(values.size() - 1) / 2];
    default:
      return median(std::move(values));
  }
}

Series series_of(const ReadingType& type, const std::string& key, Raw raw,
                 const std::set<Reader>& readers, const std::map<Reader, std::size_t>& samples) {
  Series series{&type, key, {}, std::move(raw.more)};
  for (auto& [reader, slots] : raw.slots) {
    const auto count = samples.find(reader);
    // A share that is not told of a slot was none there.
    for (int slot = -1;
         type.absent_is_zero && count != samples.end() && slots.size() < count->second; --slot) {
      slots.emplace(slot, 0);
    }
    series.values[reader] = reduced(type.kind, slots);
  }
  for (const Reader& reader : readers) {
    if (type.absent_is_zero) {
      series.values.try_emplace(reader, 0);
    }
  }
  return series;
}

std::string reason_in(const Json& detail) {
  const auto found = detail.find("not_measured");
  if (found != detail.end() && found->is_array() && !found->empty() && found->front().is_object()) {
    const auto reason = found->front().find("reason");
    return reason != found->front().end() && reason->is_string() ? reason->get<std::string>() : "";
  }
  return "";
}

}  // namespace

std::string Series::path() const {
  std::string result(type->path.substr(1, type->path.size() - (key.empty() ? 1 : 2)));
  result += key;
  std::ranges::replace(result, '/', '.');
  return result;
}

ReadingsOfSteps::ReadingsOfSteps(const RunData& run, const std::vector<int>& steps,
                                 const std::vector<bool>& looked_at) {
  RawSeries raw;
  std::set<Reader> nodes;
  std::set<Reader> devices;
  std::set<Reader> read;  // of whom anything was read
  std::map<Reader, std::set<int>> slots;
  for (const SampleRecord& sample : run.samples) {
    const bool of_steps = std::ranges::binary_search(steps, sample.step);
    if (!of_steps || sample.confirms || !looked_at[static_cast<std::size_t>(sample.node)] ||
        !sample.detail.is_object()) {
      continue;
    }
    nodes.insert({sample.node, ""});
    if (!sample.device.empty()) {
      const Reader reader{sample.node, sample.device};
      devices.insert(reader);
      if (sample.detail.contains("gpu")) {
        read.insert(reader);
        slots[reader].insert(sample.slot);
      }
      if (auto reason = reason_in(sample.detail); !reason.empty()) {
        reasons_[reader] = std::move(reason);
      }
    }
    if (sample.detail.contains("evidence")) {
      read.insert({sample.node, ""});
      slots[{sample.node, ""}].insert(sample.slot);
    }
    Taker(sample, raw);
  }
  std::map<Reader, std::size_t> samples;
  for (const auto& [reader, of_reader] : slots) {
    samples[reader] = of_reader.size();
  }
  nodes_.assign(nodes.begin(), nodes.end());
  devices_.assign(devices.begin(), devices.end());
  std::set<Reader> read_nodes;
  std::set<Reader> read_devices;
  for (const Reader& reader : read) {
    (reader.device.empty() ? read_nodes : read_devices).insert(reader);
  }
  for (auto& [place, one] : raw) {
    const ReadingType& type = reading_types()[place.first];
    series_.push_back(series_of(type, place.second, std::move(one),
                                is_of_device(type) ? read_devices : read_nodes, samples));
  }
}

const std::vector<Reader>& ReadingsOfSteps::readers(const ReadingType& type) const {
  return is_of_device(type) ? devices_ : nodes_;
}

std::string ReadingsOfSteps::reason(const Reader& reader) const {
  const auto found = reasons_.find(reader);
  return found == reasons_.end() ? "" : found->second;
}

}  // namespace fleetbench::detect
