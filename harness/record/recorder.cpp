#include "harness/record/recorder.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/record/journal_order.hpp"
#include "harness/record/journal_reader.hpp"
#include "harness/record/run_header_reader.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr std::size_t kLongestVerdict = 100;

// A key a line, a node a line: the whole as one tree would be several times as large.
std::string text_of(const RunHeader& header) {
  RunHeader without_nodes = header;
  without_nodes.nodes.clear();
  const Json json = to_json(without_nodes);
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\"{}\": ", text.empty() ? "{\n" : ",\n", key);
    if (key != "nodes") {
      text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
      continue;
    }
    for (const NodeInfo& node : header.nodes) {
      text += &node == &header.nodes.front() ? "[\n" : ",\n";
      text += to_json(node).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    text += header.nodes.empty() ? "[]" : "]";
  }
  return text + "\n}\n";
}

std::string line_of(Verdict verdict) { return std::string(to_string(verdict)) + "\n"; }

}  // namespace

Recorder::Recorder(RunDirectory directory, RunHeader header) : directory_(std::move(directory)) {
  run_.header = std::move(header);
  write_whole(directory_.verdict(), line_of(Verdict::inconclusive));
  journal_ = std::make_unique<JournalWriter>(directory_.journal(), run_.header.run_id);
  write_header();
}

Recorder::Recorder(RunDirectory directory, RunData run)
    : directory_(std::move(directory)), run_(std::move(run)) {
  write_whole(directory_.verdict(), line_of(Verdict::inconclusive));
  journal_ = JournalWriter::reopen(directory_.journal());
  write_header();
}

void Recorder::set_inventory(int node, Json inventory) {
  run_.header.nodes.at(static_cast<std::size_t>(node)).inventory =
      inventories_.share(std::move(inventory));
}

void Recorder::write_header() { write_whole(directory_.run(), text_of(run_.header)); }

void Recorder::rewrite_header() {
  try {
    write_header();
  } catch (const std::system_error& error) {
    run_.damage.push_back(fmt::format("{}; the inventory is in the report alone", error.what()));
  }
}

void Recorder::add(const Record& record) {
  add_record(run_, record);
  if (journal_) {
    try {
      journal_->append(record);
    } catch (const std::system_error& error) {
      give_up_disk(error.what());
    }
  }
}

void Recorder::sync() {
  if (journal_) {
    try {
      journal_->sync();
    } catch (const std::system_error& error) {
      give_up_disk(error.what());
    }
  }
}

void Recorder::give_up_disk(const std::string& reason) {
  journal_.reset();
  run_.damage.push_back(reason + "; what was measured afterwards is in the report alone");
}

void write_report(const RunDirectory& directory, const std::string& report_json,
                  const std::string& prometheus_text, Verdict verdict) {
  try {
    write_whole(directory.report(), report_json);
    write_whole(directory.prometheus(), prometheus_text);
    write_whole(directory.verdict(), line_of(verdict));
  } catch (const std::system_error&) {
    write_in_place(directory.verdict(), line_of(verdict));
    throw;
  }
}

RunData load_run(const RunDirectory& directory) {
  RunData run;
  require_regular(directory.run());
  run.header = read_run_header(read_whole(directory.run()), directory.run().string());
  if (std::filesystem::exists(directory.journal())) {
    JournalOrder order;
    run.damage = read_journal(directory.journal(), [&](Record&& record) {
      order.admit(record);
      add_record(run, std::move(record));
    });
  } else {
    run.damage.push_back(directory.journal().string() + " is missing");
  }
  return run;
}

Verdict load_verdict(const RunDirectory& directory) {
  if (!std::filesystem::exists(directory.verdict())) {
    return Verdict::inconclusive;
  }
  require_regular(directory.verdict());
  std::string text = read_whole(directory.verdict(), kLongestVerdict);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  try {
    return parse_verdict(text);
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: {}", directory.verdict().string(), error.what()));
  }
}

}  // namespace fleetbench::record
