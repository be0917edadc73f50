#include "harness/record/nccl_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/record/nccl_collective.hpp"
#include "harness/record/nccl_text.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"
#include "results-schema/json_at.hpp"

namespace fleetbench::record {
namespace {

std::string trimmed_text_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  return value.is_string() ? std::string(trimmed(value.get_ref<const std::string&>())) : "";
}

// A finite number, or the text of one.
std::optional<double> finite_number_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (value.is_string()) {
    return finite_number(value.get_ref<const std::string&>());
  }
  const bool finite = value.is_number() && std::isfinite(value.get<double>());
  return finite ? std::optional(value.get<double>()) : std::nullopt;
}

int whole_at(const Json& json, const char* key, int fallback) {
  const double number = finite_number_at(json, key).value_or(fallback);
  return static_cast<int>(std::clamp(number, -1.0, 1e6));
}

std::uint64_t bytes_at(const Json& json, const char* key) {
  return static_cast<std::uint64_t>(std::clamp(finite_number_at(json, key).value_or(0), 0.0, 1e18));
}

// A document that breaks off, closed behind its last whole value.
std::string closed(const std::string& text) {
  std::string open;  // the brackets that would close what is open
  std::string open_at_cut;
  std::size_t cut = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
      cut = i + 1;
      open_at_cut = open;
    }
  }
  std::ranges::reverse(open_at_cut);
  return text.substr(0, cut) + open_at_cut;
}

class JsonReader {
 public:
  JsonReader(const SourceText& source, int file, NcclProblems& problems)
      : source_(source), file_(file), problems_(problems) {}

  std::vector<NcclRun> runs() && {
    Json document = parse_foreign_json(source_.text);
    const bool whole = !document.is_discarded();
    if (!whole) {
      document = parse_foreign_json(closed(source_.text));
      error("truncated", "the document breaks off; what is whole before that is read");
    }
    if (document.is_discarded() || !document.is_object()) {
      return {};
    }
    NcclRun run;
    run.file = file_;
    read_head(document, run);
    Json rows = list_at(document, "results");
    if (!whole && !rows.empty() && !is_whole(rows.back())) {
      rows.erase(rows.size() - 1);
    }
    for (const Json& row : rows) {
      read_row(row, run);
    }
    run.average_GB_s = finite_number_at(at(document, "average_bus_bandwidth"), "bandwidth");
    run.out_of_bounds = finite_number_at(at(document, "out_of_bounds"), "count");
    run.complete = whole && run.average_GB_s.has_value();
    if (run.out_of_bounds.value_or(0) != 0) {
      error("wrong_result", fmt::format("{} of the checks of this run failed", *run.out_of_bounds));
    }
    read_errors(document, run);
    if (whole && !run.complete && run.failures.empty()) {
      error("truncated", fmt::format("the run has {} rows and no end", run.rows.size()));
    }
    return {run};
  }

 private:
  static Json list_at(const Json& json, const char* key) {
    Json list = at(json, key);
    return list.is_array() ? list : Json::array();
  }

  static bool is_whole(const Json& row) {
    NcclFigure figure;
    return finite_number_at(row, "size") && read_figure(at(row, "out_of_place"), figure) &&
           read_figure(at(row, "in_place"), figure);
  }

  void read_head(const Json& document, NcclRun& run) {
    for (const Json& word : list_at(document, "args")) {
      if (run.collective.empty() && word.is_string()) {
        run.collective = nccl_program(word.get_ref<const std::string&>());
      }
    }
    run.version = nccl_version(finite_number_at(document, "nccl_version").value_or(0));
    const Json config = at(document, "config");
    for (const Json& device : list_at(config, "devices")) {
      NcclRank rank;
      rank.rank = whole_at(device, "rank", 0);
      rank.group = whole_at(device, "group", 0);
      rank.node = trimmed_text_at(device, "hostname");
      rank.device = whole_at(device, "device", 0);
      rank.pci = short_pci(trimmed_text_at(device, "device_hex"));
      if (rank.node.empty() || rank.node.size() > kLongestName || rank.pci.empty() ||
          rank.pci.size() > kLongestName) {
        error("no_node", "a device has no hostname or no device_hex that can be used");
        continue;
      }
      run.ranks.push_back(std::move(rank));
    }
    // Of the GPUs of a process only the first one is listed.
    const int each = whole_at(config, "nthreads", 1) * whole_at(config, "ngpus", 1);
    const bool only_first = each > 1 && std::ranges::all_of(run.ranks, [each](const auto& rank) {
                              return rank.rank % each == 0;
                            });
    if (only_first && each <= 1024) {
      run.ranks_unnamed = static_cast<int>(run.ranks.size()) * (each - 1);
    }
  }

  void read_row(const Json& json, NcclRun& run) {
    NcclRow row;
    row.type = trimmed_text_at(json, "type");
    row.redop = trimmed_text_at(json, "redop");
    if (!is_whole(json) || row.type.size() > kLongestName / 4 ||
        row.redop.size() > kLongestName / 4) {
      return error("bad_row", fmt::format("result {} lacks its size or one of its two figures",
                                          run.rows.size() + 1));
    }
    row.size_bytes = bytes_at(json, "size");
    row.count = bytes_at(json, "count");
    read_figure(at(json, "out_of_place"), row.out_of_place);
    read_figure(at(json, "in_place"), row.in_place);
    row.root = whole_at(json, "root", -1);
    if (row.out_of_place.wrong.value_or(0) != 0 || row.in_place.wrong.value_or(0) != 0) {
      error("wrong_result", fmt::format("elements arrived wrong at {} bytes", row.size_bytes));
    }
    run.rows.push_back(std::move(row));
  }

  static bool read_figure(const Json& json, NcclFigure& figure) {
    const auto time = finite_number_at(json, json.contains("cpu_time") ? "cpu_time" : "time");
    const auto algbw = finite_number_at(json, "alg_bw");
    const auto busbw = finite_number_at(json, "bus_bw");
    figure = {time.value_or(0), algbw.value_or(0), busbw.value_or(0),
              finite_number_at(json, "nwrong")};
    return time && algbw && busbw;
  }

  void read_errors(const Json& document, NcclRun& run) {
    for (const Json& text : list_at(document, "errors")) {
      if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
        continue;
      }
      const std::string message = text.get<std::string>().substr(0, 200);
      if (run.complete) {
        problems_.warnings.add(
            {"failed", source_.name, 0, "NCCL's last error is \"" + message + "\""});
      } else {
        error("failed", "the test failed: " + message);
        run.failures.push_back({0, "", message});
      }
    }
  }

  void error(std::string kind, std::string message) {
    problems_.errors.add({std::move(kind), source_.name, 0, std::move(message)});
  }

  const SourceText& source_;
  int file_;
  NcclProblems& problems_;
};

}  // namespace

std::vector<NcclRun> read_nccl_json(const SourceText& source, int file, NcclProblems& problems) {
  return JsonReader(source, file, problems).runs();
}

bool looks_like_nccl_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"nccl_version\"") != std::string_view::npos &&
         text.find("\"args\"") != std::string_view::npos;
}

}  // namespace fleetbench::record
