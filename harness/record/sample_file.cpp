#include "harness/record/sample_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

#include "harness/record/long_csv.hpp"
#include "harness/record/nccl_json.hpp"
#include "harness/record/nccl_tests.hpp"
#include "harness/record/recorder.hpp"
#include "harness/record/superbench.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNotes = 20;
constexpr std::size_t kShown = 40;
constexpr const char* kWhatIsRead =
    "give a run directory, a CSV whose header has node, metric and value, SuperBench's "
    "results-summary.jsonl, or logs or JSON of nccl-tests";

struct Format {
  const char* name;
  ImportedSamples (*read)(std::vector<SourceText>);
};
constexpr Format kLongCsv{"a long CSV", read_long_csv};
constexpr Format kSuperbench{"SuperBench's results", read_superbench};
constexpr Format kNcclTests{"of nccl-tests", read_nccl_tests};

// Files of which something is known that helps: what to do instead.
std::optional<std::string> known_but_not_read(std::string_view text) {
  const auto has = [text](std::string_view mark) {
    return text.substr(0, 4096).find(mark) != std::string_view::npos;
  };
  if (has("\"schema\":\"fleetbench-journal/") || has("\"schema\": \"fleetbench-run/")) {
    return "is a file of a run directory; give the directory";
  }
  if (looks_like_baseline(text)) {
    return "is a baseline, which holds no samples; it is what --baseline takes";
  }
  if (has("\"schema\": \"fleetbench-report/")) {
    return "is a report, which holds no samples; give the run directory that it is of";
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return "is UTF-16; save it as UTF-8";
  }
  return std::nullopt;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Null where the text is of no kind that is read here.
const Format* known_format(std::string_view text) {
  if (looks_like_nccl_json(text)) {
    return &kNcclTests;
  }
  if (looks_like_superbench(text)) {
    return &kSuperbench;
  }
  if (looks_like_long_csv(text)) {
    return &kLongCsv;
  }
  return looks_like_nccl_tests(text) ? &kNcclTests : nullptr;
}

const Format& format_of(const SourceText& source) {
  const std::string& text = source.text;
  if (is_blank(text)) {
    throw InputError(fmt::format("{}: is empty; {}", source.name, kWhatIsRead));
  }
  if (const auto known = known_but_not_read(text)) {
    throw InputError(fmt::format("{}: {}", source.name, *known));
  }
  if (const Format* format = known_format(text)) {
    return *format;
  }
  const std::string first = text.substr(0, std::min(text.find('\n'), kShown));
  throw InputError(fmt::format("{}: begins with \"{}\", which is no file that is read here; {}",
                               source.name, first, kWhatIsRead));
}

// Among logs of nccl-tests those of which only a launcher's complaint is left, or nothing, are
// theirs, too: one of hundreds must not cost the others.
const Format& common_format(const std::vector<SourceText>& sources) {
  const bool some_nccl = std::ranges::any_of(
      sources, [](const SourceText& source) { return known_format(source.text) == &kNcclTests; });
  const SourceText* first = nullptr;
  const Format* format = nullptr;
  for (const SourceText& source : sources) {
    const bool rest_of_log = some_nccl && !known_but_not_read(source.text) &&
                             (is_blank(source.text) || known_format(source.text) == nullptr);
    const Format& own = rest_of_log ? kNcclTests : format_of(source);
    if (format != nullptr && own.read != format->read) {
      throw InputError(fmt::format("{} is {}, {} is {}; give files of one kind", first->name,
                                   format->name, source.name, own.name));
    }
    first = first == nullptr ? &source : first;
    format = &own;
  }
  return *format;
}

std::vector<SourceText> read_all(const std::vector<fs::path>& paths) {
  std::vector<SourceText> sources;
  for (const fs::path& path : paths) {
    sources.push_back({path.string(), read_whole(path)});
    const auto same = std::ranges::find(sources, sources.back().text, &SourceText::text);
    if (same != sources.end() - 1) {
      throw InputError(
          fmt::format("{}: holds the same as {}; give it once", path.string(), same->name));
    }
  }
  return sources;
}

void add_notes(const std::vector<Problem>& problems, std::vector<std::string>& notes) {
  const std::size_t shown = std::min(problems.size(), kMostNotes);
  for (std::size_t i = 0; i < shown; ++i) {
    notes.push_back(problems[i].text());
  }
  if (problems.size() > shown) {
    notes.push_back(fmt::format("and {} more like these", problems.size() - shown));
  }
}

std::string content_id(const std::vector<SourceText>& sources) {
  uLong sum = crc32(0, nullptr, 0);
  std::size_t size = 0;
  for (const SourceText& source : sources) {
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(source.text.data()), source.text.size());
    size += source.text.size();
  }
  return fmt::format("imported-{:08x}-{}", sum, size);
}

std::string newest_of(const std::vector<fs::path>& paths) {
  fs::file_time_type newest = fs::last_write_time(paths.front());
  for (const fs::path& path : paths) {
    newest = std::max(newest, fs::last_write_time(path));
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::floor<std::chrono::seconds>(
                                                  fs::file_time_type::clock::to_sys(newest)));
}

LoadedRun load_files(const std::vector<fs::path>& paths) {
  std::vector<SourceText> sources = read_all(paths);
  LoadedRun loaded;
  loaded.content_id = content_id(sources);
  const Format& format = common_format(sources);
  ImportedSamples samples = format.read(std::move(sources));
  if (samples.run.samples.empty()) {
    throw InputError(samples.errors.empty()
                         ? fmt::format("{}: holds no sample", paths.front().string())
                         : samples.errors.front().text() + "; no sample could be read");
  }
  add_notes(samples.errors, loaded.notes);
  add_notes(samples.warnings, loaded.notes);
  loaded.run = std::move(samples.run);
  loaded.run.header.created = newest_of(paths);
  return loaded;
}

}  // namespace

LoadedRun load_samples(const std::vector<fs::path>& paths) {
  std::error_code none;
  for (const fs::path& path : paths) {
    const bool is_directory = fs::is_directory(path, none);
    if (!is_directory && !fs::exists(path, none)) {
      throw InputError(fmt::format("{}: there is no such file or folder", path.string()));
    }
    if (is_directory && paths.size() > 1) {
      throw InputError(
          fmt::format("{}: a run directory is analysed by itself; give it alone", path.string()));
    }
  }
  if (fs::is_directory(paths.front(), none)) {
    return {load_run(RunDirectory::open(paths.front())), {}, ""};
  }
  return load_files(paths);
}

bool looks_like_samples(std::string_view text) {
  return !looks_like_baseline(text) && known_format(text) != nullptr;
}

bool looks_like_baseline(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"fleetbench-baseline/") != std::string_view::npos;
}

}  // namespace fleetbench::record
