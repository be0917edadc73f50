#include "harness/record/inventory_spans.hpp"

#include <algorithm>
#include <stdexcept>

namespace fleetbench::record {
namespace {

// Walks over JSON text from value to value.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }

  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Calls take(key), which has to pass over the value, for each key of an object.
  template <typename Take>
  void object(const Take& take) {
    each('{', '}', [&] {
      const std::string_view key = text();
      expect(':');
      take(key);
    });
  }

  template <typename Take>
  void array(const Take& take) {
    each('[', ']', take);
  }

  // Passes over a value and returns it.
  std::string_view value() {
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '"') {
      pass_text();
    } else if (first == '{' || first == '[') {
      pass_structure();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    if (at_ == begin) {
      fail();
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  [[noreturn]] static void fail() { throw std::invalid_argument("this is no JSON"); }

  void expect(char wanted) {
    if (peek() != wanted) {
      fail();
    }
    ++at_;
  }

  template <typename Take>
  void each(char begin, char end, const Take& take) {
    expect(begin);
    if (peek() == end) {
      ++at_;
      return;
    }
    for (;;) {
      take();
      if (peek() == end) {
        ++at_;
        return;
      }
      expect(',');
    }
  }

  // A key of plain ASCII; nobody parses it, and with escapes it may be another one.
  std::string_view text() {
    if (peek() != '"') {
      fail();
    }
    const std::string_view quoted = value();
    if (!std::ranges::all_of(quoted, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; })) {
      fail();
    }
    return quoted.substr(1, quoted.size() - 2);
  }

  void pass_text() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
    fail();
  }

  void pass_structure() {
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        pass_text();
        continue;
      }
      ++at_;
      depth += c == '{' || c == '[' ? 1 : 0;
      depth -= c == '}' || c == ']' ? 1 : 0;
      if (depth == 0) {
        return;
      }
    }
    fail();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text), walker_(text) {}

  InventorySpans find() {
    walker_.object([&](std::string_view key) {
      if (key == "nodes" && walker_.peek() == '[') {
        walker_.array([&] { node(); });
      } else {
        walker_.value();
      }
    });
    found_.without += text_.substr(kept_);
    return std::move(found_);
  }

 private:
  void node() {
    found_.nodes.emplace_back();
    if (walker_.peek() != '{') {
      walker_.value();
      return;
    }
    walker_.object([&](std::string_view key) {
      if (key == "inventory" && walker_.peek() == '{') {
        inventory();
      } else {
        walker_.value();
      }
    });
  }

  void inventory() {
    found_.without += text_.substr(kept_, walker_.position() - kept_);
    found_.without += "null";
    PartSpans& parts = found_.nodes.back().emplace();
    walker_.object([&](std::string_view key) {
      if (!parts.emplace(key, walker_.value()).second) {
        throw std::invalid_argument("a key is there twice");  // of which nobody would parse one
      }
    });
    kept_ = walker_.position();
  }

  std::string_view text_;
  Walker walker_;
  std::size_t kept_ = 0;  // up to here the text is in `without`, or left out
  InventorySpans found_;
};

}  // namespace

InventorySpans find_inventories(std::string_view text) { return Finder(text).find(); }

}  // namespace fleetbench::record
