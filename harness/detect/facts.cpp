#include "harness/detect/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace fleetbench::detect {
namespace {

constexpr std::size_t kLongestValue = 80;

// Parts of the last key of a path that tell of something which differs by nature.
constexpr std::array<std::string_view, 15> kOwn = {
    "hostname",  "address", "serial", "uuid", "guid",        "boot_id", "machine_id",        "free",
    "available", "used",    "uptime", "load", "temperature", "time",    "current_link_speed"};
constexpr std::array<std::string_view, 8> kOwnExactly = {
    "name", "ip", "id", "mac", "bios_date", "label", "hidden_by", "lacks"};
constexpr std::array<const char*, 6> kNaming = {"name",   "address", "mount_point",
                                                "device", "node",    "page_bytes"};

// Behind each path and each value of a content; no text of an inventory holds it.
constexpr char kEnd = '\0';

bool differs(const std::string& key) {
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](auto part) { return key.find(part) != std::string::npos; }) ||
         std::find(kOwnExactly.begin(), kOwnExactly.end(), key) != kOwnExactly.end();
}

// A letter for the type, and the text.
void append_value(std::string& to, const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      to += 's';
      to += value.get_ref<const std::string&>();
      return;
    case Json::value_t::number_unsigned:
      fmt::format_to(std::back_inserter(to), "#{}", value.get<std::uint64_t>());
      return;
    case Json::value_t::number_integer:
      fmt::format_to(std::back_inserter(to), "#{}", value.get<std::int64_t>());
      return;
    case Json::value_t::number_float:
      fmt::format_to(std::back_inserter(to), "#{}", value.get<double>());
      return;
    case Json::value_t::null:
      to += kNone;
      return;
    default:
      to += value.is_array() && value.empty() ? std::string(kNone) : "j" + value.dump();
  }
}

std::string value_of(const Json& value) {
  std::string text;
  append_value(text, value);
  return text;
}

// What names the element within its array; a device with several ports is named by both.
std::string element_name(const Json& element, std::size_t index) {
  if (element.is_object()) {
    for (const char* key : kNaming) {
      const auto found = element.find(key);
      if (found != element.end() && found->is_primitive() && !found->is_null()) {
        const auto port = element.find("port");
        const bool one_of_several = port != element.end() && !port->is_null();
        return shown(value_of(*found)) + (one_of_several ? ":" + shown(value_of(*port)) : "");
      }
    }
  }
  return std::to_string(index);
}

class Flattener {
 public:
  explicit Flattener(std::unordered_map<std::string, bool>& known) : differs_by_nature_(known) {}

  std::string content_of(const std::string& name, const Json& part) {
    path_ = name;
    flatten(part, name);
    return std::move(content_);
  }

 private:
  void flatten(const Json& value, const std::string& key) {
    if (value.is_object()) {
      for (const auto& [name, child] : value.get_ref<const Json::object_t&>()) {
        within("." + name, [&, &inner = child, &of = name] { flatten(inner, of); });
      }
    } else if (value.is_array() && !(is_plain(value) && !differs_by_nature(key))) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        within("[" + element_name(value[i], i) + "]", [&] {
          add(kPresent);
          flatten(value[i], key);
        });
      }
    } else if (!differs_by_nature(key)) {
      add(value_of(value));
    }
  }

  template <typename Work>
  void within(const std::string& step, const Work& work) {
    const std::size_t length = path_.size();
    path_ += step;
    work();
    path_.resize(length);
  }

  static bool is_plain(const Json& array) {
    return std::none_of(array.begin(), array.end(),
                        [](const Json& child) { return child.is_structured(); });
  }

  void add(std::string_view value) {
    content_ += path_;
    content_ += kEnd;
    content_ += value;
    content_ += kEnd;
  }

  bool differs_by_nature(const std::string& key) {
    const auto [known, is_new] = differs_by_nature_.try_emplace(key, false);
    if (is_new) {
      known->second = differs(key);
    }
    return known->second;
  }

  std::unordered_map<std::string, bool>& differs_by_nature_;
  std::string path_;
  std::string content_;
};

Facts split(std::string_view content) {
  Facts facts;
  const auto next = [&content] {
    const std::string_view text = content.substr(0, content.find(kEnd));
    content.remove_prefix(std::min(text.size() + 1, content.size()));
    return text;
  };
  while (!content.empty()) {
    const std::string_view path = next();
    facts.insert_or_assign(std::string(path), std::string(next()));
  }
  return facts;
}

}  // namespace

std::string shown(std::string_view value) {
  if (value == kNone) {
    return "none";
  }
  const std::string text(value.substr(1));
  return text.size() > kLongestValue ? text.substr(0, kLongestValue) + "..." : text;
}

const Facts& FactPool::facts_of(const std::string& name, const Json& part) {
  const auto [of_part, is_new_part] = of_part_[name].try_emplace(&part, nullptr);
  if (is_new_part) {
    const auto [of_content, is_new_content] =
        of_content_.try_emplace(Flattener(differs_by_nature_).content_of(name, part));
    if (is_new_content) {
      of_content->second = split(of_content->first);
    }
    of_part->second = &of_content->second;
  }
  return *of_part->second;
}

}  // namespace fleetbench::detect
