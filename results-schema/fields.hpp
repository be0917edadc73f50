// Reads the keys of a JSON object that this program wrote itself, or that someone tampered with:
// every wrong type, range or missing key throws std::invalid_argument with the key's full path.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "results-schema/check.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench {

class Fields {
 public:
  // `where` is the object's own path, "" for the document. `json` must outlive this.
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      throw std::invalid_argument((where_.empty() ? "the record" : where_) + " is no object");
    }
  }

  std::string path(const std::string& key) const {
    return where_.empty() ? key : where_ + "." + key;
  }

  bool has(const std::string& key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  const Json& at(const std::string& key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      throw std::invalid_argument(path(key) + " is missing");
    }
    return *found;
  }

  std::string text(const std::string& key) const {
    require(at(key).is_string(), key, "a text");
    return at(key).get<std::string>();
  }
  std::string text_or_empty(const std::string& key) const { return has(key) ? text(key) : ""; }

  // Of something that tables have a column for, or of such names put together.
  std::string name(const std::string& key, std::size_t most = kLongestName) const {
    std::string value = text(key);
    require(value.size() <= most, key, "a name of at most " + std::to_string(most) + " bytes");
    return value;
  }

  bool boolean(const std::string& key) const {
    require(at(key).is_boolean(), key, "true or false");
    return at(key).get<bool>();
  }

  // A whole number from `lowest` to the largest int.
  int integer(const std::string& key, int lowest = 0) const {
    const Json& value = at(key);
    const std::string what = "a whole number from " + std::to_string(lowest);
    require(value.is_number_integer(), key, what);
    const bool large =
        value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<int>::max();
    require(!large && value.get<std::int64_t>() >= lowest &&
                value.get<std::int64_t>() <= std::numeric_limits<int>::max(),
            key, what);
    return value.get<int>();
  }
  std::optional<int> integer_if_any(const std::string& key) const {
    return has(key) ? std::optional(integer(key)) : std::nullopt;
  }

  double number(const std::string& key) const {
    require(at(key).is_number(), key, "a number");
    return at(key).get<double>();
  }
  double number_from_zero(const std::string& key) const {
    const double value = number(key);
    require(value >= 0, key, "a number from 0");
    return value;
  }

  double positive(const std::string& key) const {
    const double value = number(key);
    require(value > 0 && std::isfinite(value), key, "a number over 0");
    return value;
  }

  const Json& array(const std::string& key) const {
    require(at(key).is_array(), key, "an array");
    return at(key);
  }
  std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> result;
    for (const Json& item : array(key)) {
      require(item.is_string(), key, "an array of texts");
      result.push_back(item.get<std::string>());
    }
    return result;
  }

  // Calls read(Fields) for each object of an array and returns what it returns.
  template <typename Read>
  auto each(const std::string& key, Read read) const {
    std::vector<decltype(read(*this))> result;
    for (const Json& item : array(key)) {
      result.push_back(read(Fields(item, path(key) + "[" + std::to_string(result.size()) + "]")));
    }
    return result;
  }

  // An enum's text, read by one of the parse_ functions.
  template <typename Parse>
  auto parsed(const std::string& key, Parse parse) const {
    const std::string value = text(key);
    try {
      return parse(value);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(path(key) + ": " + error.what());
    }
  }

  Fields object(const std::string& key) const { return Fields(at(key), path(key)); }

  // A file of another minor version has keys more or fewer, all of them optional.
  void require_schema(const std::string& key, const std::string& ours) const {
    const std::string major = ours.substr(0, ours.find('.') + 1);
    require(text(key).starts_with(major), key, "\"" + major + "\", which this build reads");
  }

  void require(bool holds, const std::string& key, const std::string& what) const {
    if (!holds) {
      throw std::invalid_argument(path(key) + " is not " + what + ": " + shown(key));
    }
  }

 private:
  std::string shown(const std::string& key) const {
    std::string value = at(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    return value.size() > 60 ? value.substr(0, 60) + "..." : value;
  }

  const Json& json_;
  std::string where_;
};

}  // namespace fleetbench
