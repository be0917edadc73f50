#include "results-schema/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "results-schema/embedded.hpp"

namespace fleetbench {
namespace {

using Error = valijson::ValidationResults::Error;

// What a step of valijson's context stands for: "[steps]" is a key, "[0]" an index.
std::string unbracket(const std::string& step) {
  return step.size() > 2 && step.front() == '[' ? step.substr(1, step.size() - 2) : step;
}

bool is_index(const std::string& step) {
  return !step.empty() && std::all_of(step.begin(), step.end(),
                                      [](unsigned char c) { return c >= '0' && c <= '9'; });
}

struct Place {
  std::string path;
  const Json* value = nullptr;
  const Json* schema = nullptr;
};

// Walks document and schema side by side to where the error is.
Place locate(const Error& error, const Json& document, const Json& schema,
             const std::string& where) {
  Place place{where, &document, &schema};
  for (std::size_t i = 1; i < error.context.size(); ++i) {
    const std::string step = unbracket(error.context[i]);
    if (place.value->is_array() && is_index(step)) {
      place.path += fmt::format("[{}]", step);
      place.value = &place.value->at(std::stoul(step));
      place.schema =
          place.schema && place.schema->contains("items") ? &place.schema->at("items") : nullptr;
    } else {
      place.path += (place.path.empty() ? "" : ".") + step;
      place.value = &place.value->at(step);
      const Json* properties = place.schema && place.schema->contains("properties")
                                   ? &place.schema->at("properties")
                                   : nullptr;
      place.schema = properties && properties->contains(step) ? &properties->at(step) : nullptr;
    }
  }
  return place;
}

std::string quoted_name(const std::string& description) {
  // The name is the last thing in quotes.
  const auto end = description.rfind('\'');
  const auto begin = end == std::string::npos || end == 0 ? end : description.rfind('\'', end - 1);
  return begin == end || begin == std::string::npos
             ? ""
             : description.substr(begin + 1, end - begin - 1);
}

std::string list_keys(const Json& properties) {
  std::vector<std::string> keys;
  for (const auto& item : properties.items()) {
    keys.push_back(item.key());
  }
  return keys.empty() ? "there are none" : fmt::format("{}", fmt::join(keys, ", "));
}

std::string list_values(const Json& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) {
    texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string range_text(const Json& schema) {
  std::string text;
  if (schema.contains("minimum")) {
    text = fmt::format("at least {}", schema.at("minimum").dump());
  }
  if (schema.contains("exclusiveMinimum")) {
    text = fmt::format("over {}", schema.at("exclusiveMinimum").dump());
  }
  if (schema.contains("maximum")) {
    text += fmt::format("{}at most {}", text.empty() ? "" : " and ", schema.at("maximum").dump());
  }
  return text;
}

bool has_type(const Json& value, const std::string& type) {
  static const std::map<std::string, bool (*)(const Json&)> tests{
      {"object", [](const Json& v) { return v.is_object(); }},
      {"array", [](const Json& v) { return v.is_array(); }},
      {"string", [](const Json& v) { return v.is_string(); }},
      {"number", [](const Json& v) { return v.is_number(); }},
      {"integer", [](const Json& v) { return v.is_number_integer(); }},
      {"boolean", [](const Json& v) { return v.is_boolean(); }},
      {"null", [](const Json& v) { return v.is_null(); }}};
  return tests.at(type)(value);
}

std::string shortened(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

// The first item of an array that is in it again; null where there is none.
Json twice(const Json& array) {
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (std::find(array.begin(), array.begin() + static_cast<long>(i), array[i]) !=
        array.begin() + static_cast<long>(i)) {
      return array[i];
    }
  }
  return nullptr;
}

// What the schema's own rules say about a value that one of them rejects.
std::string explain_value(const Json& value, const Json& schema, const std::string& fallback) {
  const std::string shown = shortened(value);
  if (schema.contains("type") && schema.at("type").is_string() &&
      !has_type(value, schema.at("type").get<std::string>())) {
    const std::string range = value.is_number() ? "" : range_text(schema);
    return fmt::format("{} is not of type {}{}", shown, schema.at("type").get<std::string>(),
                       range.empty() ? "" : " (" + range + ")");
  }
  if (schema.contains("enum")) {
    return fmt::format("{} is none of {}", shown, list_values(schema.at("enum")));
  }
  if (schema.contains("const")) {
    return fmt::format("{} is not {}", shown, schema.at("const").dump());
  }
  if (value.is_number() && !range_text(schema).empty()) {
    return fmt::format("{} is out of range: {}", shown, range_text(schema));
  }
  if (value.is_string() && schema.contains("pattern")) {
    return fmt::format("{} does not match {}", shown, schema.at("pattern").get<std::string>());
  }
  if (value.is_array() && schema.value("uniqueItems", false) && !twice(value).is_null()) {
    return fmt::format("holds {} twice", shortened(twice(value)));
  }
  if (value.is_array() && (schema.contains("minItems") || schema.contains("maxItems"))) {
    return fmt::format("has {} items; allowed are {} to {}", value.size(),
                       schema.value("minItems", 0), schema.value("maxItems", 1000));
  }
  return fmt::format("{}: {}", shown, fallback);
}

std::string explain(const Error& error, const Json& document, const Json& schema,
                    const std::string& where) {
  const Place place = locate(error, document, schema, where);
  const Json nothing = Json::object();
  const Json& rules = place.schema ? *place.schema : nothing;
  const std::string name = quoted_name(error.description);
  const std::string prefix = place.path.empty() ? "" : place.path + ": ";
  if (error.description.starts_with("Missing required property")) {
    return fmt::format("{}\"{}\" is missing", prefix, name);
  }
  if (error.description.find("additionalProperties") != std::string::npos) {
    return fmt::format("{}unknown key \"{}\"; allowed are {}", prefix, name,
                       list_keys(rules.value("properties", nothing)));
  }
  return prefix + explain_value(*place.value, rules, error.description);
}

// valijson reports an error again for each level above it; those say nothing new.
bool is_echo(const Error& error) {
  return error.description.starts_with("Failed to validate against schema associated") ||
         error.description.starts_with("Failed to validate item");
}

// The closing quote of the text that begins at `quote`, or the last byte of all.
std::size_t last_of_text(std::string_view json, std::size_t quote) {
  for (std::size_t at = quote + 1; at < json.size(); ++at) {
    if (json[at] == '"') {
      return at;
    }
    at += json[at] == '\\' ? 1 : 0;
  }
  return json.size();
}

// "SOURCE:LINE:COLUMN"
std::string place_in(const std::string& text, std::size_t at, const std::string& source) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
  const std::size_t line_begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = line_begin == std::string::npos ? at + 1 : at - line_begin;
  return fmt::format("{}:{}:{}", source, line, column);
}

// The library's words without its numbers, and without the whole of a token of a million bytes.
std::string reason_of(const Json::exception& error) {
  constexpr std::size_t kLongest = 200;
  std::string reason = error.what();
  const auto begin = reason.rfind("; ");
  const auto bracket = reason.find("] ");
  reason = begin != std::string::npos     ? reason.substr(begin + 2)
           : bracket != std::string::npos ? reason.substr(bracket + 2)
                                          : reason;
  return reason.size() > kLongest ? reason.substr(0, kLongest) + "..." : reason;
}

}  // namespace

std::vector<std::string> check_against(const Json& document, const Json& schema,
                                       const std::string& where) {
  valijson::Schema compiled;
  valijson::SchemaParser parser;
  valijson::adapters::NlohmannJsonAdapter schema_adapter(schema);
  parser.populateSchema(schema_adapter, compiled);
  valijson::Validator validator;
  valijson::ValidationResults results;
  valijson::adapters::NlohmannJsonAdapter document_adapter(document);
  std::vector<std::string> faults;
  if (validator.validate(compiled, document_adapter, &results)) {
    return faults;
  }
  Error error;
  while (results.popError(error)) {
    if (!is_echo(error)) {
      faults.push_back(explain(error, document, schema, where));
    }
  }
  return faults;
}

std::optional<std::size_t> too_deep_at(std::string_view json) {
  int depth = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      at = last_of_text(json, at);
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) {
        return at;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return std::nullopt;
}

Json parse_json(const std::string& text, const std::string& source) {
  if (const auto at = too_deep_at(text)) {
    throw InputError(
        fmt::format("{}: nested more than {} deep", place_in(text, *at, source), kMaxJsonDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    throw InputError(
        fmt::format("{}: this is not JSON: {}", place_in(text, at, source), reason_of(error)));
  } catch (const Json::out_of_range& error) {
    throw InputError(fmt::format("{}: {}", source, reason_of(error)));
  }
}

Json parse_foreign_json(std::string_view text) {
  return too_deep_at(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

Json with_defaults(Json value, const Json& schema) {
  const Json nothing = Json::object();
  const Json properties = schema.value("properties", nothing);
  for (const auto& [key, rules] : properties.items()) {
    if (!value.contains(key) && rules.contains("default")) {
      value[key] = rules.at("default");
    }
  }
  return value;
}

const Json& schema_named(const std::string& name) {
  static const std::map<std::string, Json> schemas = [] {
    std::map<std::string, Json> parsed;
    for (const auto& file : embedded_schemas()) {
      parsed.emplace(file.name, Json::parse(file.text));
    }
    return parsed;
  }();
  return schemas.at(name);
}

}  // namespace fleetbench
