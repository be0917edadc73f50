#include "harness/record/fast_json.hpp"

#include <simdjson.h>

#include <array>
#include <limits>

#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

namespace dom = simdjson::dom;

Json json_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::OBJECT: {
      Json json = Json::object();
      const dom::object object = element.get_object().value_unsafe();
      for (const auto& [key, value] : object) {
        json[std::string(key)] = json_of(value);  // of a key that is there twice the last counts
      }
      return json;
    }
    case dom::element_type::ARRAY: {
      Json json = Json::array();
      auto& items = json.get_ref<Json::array_t&>();
      const dom::array array = element.get_array().value_unsafe();
      items.reserve(array.size());
      for (const dom::element value : array) {
        items.push_back(json_of(value));
      }
      return json;
    }
    case dom::element_type::INT64: {
      // A number that has no sign is unsigned to nlohmann_json.
      const std::int64_t value = element.get_int64().value_unsafe();
      return value < 0 ? Json(value) : Json(static_cast<std::uint64_t>(value));
    }
    case dom::element_type::UINT64:
      return element.get_uint64().value_unsafe();
    case dom::element_type::DOUBLE:
      return element.get_double().value_unsafe();
    case dom::element_type::STRING:
      return std::string(element.get_string().value_unsafe());
    case dom::element_type::BOOL:
      return element.get_bool().value_unsafe();
    case dom::element_type::NULL_VALUE:
      return nullptr;
  }
  return nullptr;
}

bool take(const dom::element& element, int& to) {
  std::int64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS || value < 0 ||
      value > std::numeric_limits<int>::max()) {
    return false;
  }
  to = static_cast<int>(value);
  return true;
}

bool take(const dom::element& element, std::optional<int>& to) {
  to = 0;
  return take(element, *to);
}

// Seconds.
bool take(const dom::element& element, double& to) {
  return element.get(to) == simdjson::SUCCESS && to >= 0;
}

bool take(const dom::element& element, std::string& to) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) {
    return false;
  }
  to = text;
  return true;
}

bool take(const dom::element& element, Status& to) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) {
    return false;
  }
  for (const Status status :
       {Status::ok, Status::failed, Status::timeout, Status::wrong, Status::skipped}) {
    if (text == to_string(status)) {
      to = status;
      return true;
    }
  }
  return false;
}

bool take(const dom::element& element, std::vector<int>& to) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) {
    return false;
  }
  to.clear();
  for (const dom::element item : array) {
    if (int node = 0; take(item, node)) {
      to.push_back(node);
    } else {
      return false;
    }
  }
  return true;
}

bool take(const dom::element& element, End& to) {
  dom::array pair;
  return element.get(pair) == simdjson::SUCCESS && pair.size() == 2 && take(pair.at(0), to.node) &&
         take(pair.at(1), to.device);
}

bool take(const dom::element& element, std::vector<End>& to) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) {
    return false;
  }
  to.clear();
  for (const dom::element item : array) {
    if (!take(item, to.emplace_back())) {
      return false;
    }
  }
  return true;
}

bool take(const dom::element& element, Values& to) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) {
    return false;
  }
  to.clear();
  to.reserve(array.size());
  for (const dom::element item : array) {
    if (double value = 0; item.get(value) == simdjson::SUCCESS) {
      to.emplace_back(value);
    } else if (item.is_null()) {
      to.emplace_back();
    } else {
      return false;
    }
  }
  return true;
}

bool is_sample(const dom::element& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS && text == "sample";
}

struct Key {
  std::string_view name;
  bool required;
  bool (*take)(const dom::element&, SampleRecord&);
};

// In the order in which they are written, so that the next one is nearly always the next here.
constexpr std::array<Key, 18> kKeys = {{
    {"confirms", false, [](const auto& json, auto& to) { return take(json, to.confirms); }},
    {"detail", false,
     [](const auto& json, auto& to) {
       to.detail = json_of(json);
       return true;
     }},
    {"device", false, [](const auto& json, auto& to) { return take(json, to.device); }},
    {"ends", false, [](const auto& json, auto& to) { return take(json, to.ends); }},
    {"group", false, [](const auto& json, auto& to) { return take(json, to.group); }},
    {"measure_s", true, [](const auto& json, auto& to) { return take(json, to.measure_s); }},
    {"node", true, [](const auto& json, auto& to) { return take(json, to.node); }},
    {"pass", true, [](const auto& json, auto& to) { return take(json, to.pass); }},
    {"peer", false, [](const auto& json, auto& to) { return take(json, to.peer); }},
    {"prepare_s", true, [](const auto& json, auto& to) { return take(json, to.prepare_s); }},
    {"reason", false, [](const auto& json, auto& to) { return take(json, to.reason); }},
    {"slot", true, [](const auto& json, auto& to) { return take(json, to.slot); }},
    {"start_s", true, [](const auto& json, auto& to) { return take(json, to.start_s); }},
    {"status", true, [](const auto& json, auto& to) { return take(json, to.status); }},
    {"step", true, [](const auto& json, auto& to) { return take(json, to.step); }},
    {"t", true, [](const auto& json, auto&) { return is_sample(json); }},
    {"values", true, [](const auto& json, auto& to) { return take(json, to.values); }},
    // Of the whole line, and compared before.
    {"crc", false, [](const auto&, auto&) { return true; }},
}};

constexpr unsigned required_keys() {
  unsigned bits = 0;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    bits |= kKeys[i].required ? 1U << i : 0U;
  }
  return bits;
}

// The position of a key, tried from `from` on; kKeys.size() where it is none of them.
std::size_t position_of(std::string_view name, std::size_t from) {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::size_t at = (from + i) % kKeys.size();
    if (kKeys[at].name == name) {
      return at;
    }
  }
  return kKeys.size();
}

}  // namespace

struct FastJson::Parser {
  dom::parser parser;

  bool parse(std::string_view text, dom::element& root) {
    return parser.parse(text.data(), text.size(), false).get(root) == simdjson::SUCCESS;
  }
};

FastJson::FastJson() : parser_(std::make_unique<Parser>()) {
  // Where there is no memory for it parse() says so.
  static_cast<void>(parser_->parser.allocate(1, kMaxJsonDepth));
}
FastJson::~FastJson() = default;

std::optional<Json> FastJson::json(std::string_view text) {
  dom::element root;
  return parser_->parse(text, root) ? std::optional(json_of(root)) : std::nullopt;
}

std::optional<SampleRecord> FastJson::sample(std::string_view text) {
  dom::element root;
  dom::object object;
  if (!parser_->parse(text, root) || root.get(object) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  std::optional<SampleRecord> sample(std::in_place);
  unsigned seen = 0;
  std::size_t at = 0;
  for (const auto& [key, value] : object) {
    at = position_of(key, at);
    if (at == kKeys.size() || !kKeys[at].take(value, *sample)) {
      return std::nullopt;
    }
    seen |= 1U << at;
  }
  constexpr unsigned kRequired = required_keys();
  return (seen & kRequired) == kRequired ? std::move(sample) : std::nullopt;
}

}  // namespace fleetbench::record
