#include "harness/record/csv_text.hpp"

#include <algorithm>

namespace fleetbench::record {

CsvText::CsvText(std::string_view text) : text_(text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text_.starts_with(kMark)) {
    text_.remove_prefix(kMark.size());
  }
}

bool CsvText::next() {
  if (!skip_empty_lines()) {
    return false;
  }
  begin_ = at_;
  line_ = next_line_;
  fault_ = Fault::none;
  fields_.clear();
  unquoted_.clear();
  read_record();
  return true;
}

bool CsvText::at_line_end() const {
  return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
}

void CsvText::pass_line_end() {
  if (at_ == text_.size()) {
    return;
  }
  at_ += text_[at_] == '\r' ? 2 : 1;
  ++next_line_;
}

bool CsvText::skip_empty_lines() {
  while (at_ < text_.size() && at_line_end()) {
    pass_line_end();
  }
  return at_ < text_.size();
}

void CsvText::read_record() {
  while (true) {
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted();
    } else {
      read_plain();
    }
    if (fault_ != Fault::none) {
      return;
    }
    if (at_line_end()) {
      pass_line_end();
      return;
    }
    ++at_;  // the comma
  }
}

void CsvText::read_plain() {
  const std::size_t begin = at_;
  while (!at_line_end() && text_[at_] != ',') {
    if (text_[at_] == '"') {
      return give_up_line(Fault::stray_quote);
    }
    ++at_;
  }
  fields_.push_back(text_.substr(begin, at_ - begin));
}

void CsvText::read_quoted() {
  const std::size_t begin = ++at_;
  bool doubled = false;
  while (true) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) {
      return give_up_line(Fault::open_quote);
    }
    next_line_ += static_cast<int>(std::ranges::count(text_.substr(at_, quote - at_), '\n'));
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') {
      break;
    }
    doubled = true;
    ++at_;
  }
  if (!at_line_end() && text_[at_] != ',') {
    return give_up_line(Fault::stray_quote);
  }
  std::string_view field = text_.substr(begin, at_ - 1 - begin);
  if (doubled) {
    std::string& plain = unquoted_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      plain += field[i];
      i += field[i] == '"' ? 1 : 0;
    }
    field = plain;
  }
  fields_.push_back(field);
}

void CsvText::give_up_line(Fault fault) {
  fault_ = fault;
  const std::size_t end = text_.find('\n', begin_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  next_line_ = line_ + 1;
}

}  // namespace fleetbench::record
