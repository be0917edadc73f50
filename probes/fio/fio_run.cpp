#include "probes/fio/fio_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/probe.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/program.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWarnings_bytes = 400;

// The first thing that fio itself complains of; on standard output too, before its JSON.
std::string complaint(const ProgramEnd& end) {
  for (const std::string* text : {&end.output, &end.errors}) {
    for (const auto line : split(*text, '\n')) {
      if (line.starts_with("fio:") || line.starts_with("Bad option")) {
        return printable_text(trimmed(line));
      }
    }
  }
  return "";
}

[[noreturn]] void fail(const fs::path& folder, const std::string& words) {
  throw std::runtime_error(fmt::format("fio in {}: {}", printable_text(folder.string()), words));
}

void require_engine(const std::string& words) {
  if (words.find("not loadable") != std::string::npos ||
      words.find("failed to load engine") != std::string::npos ||
      words.find("func=dlopen") != std::string::npos) {
    throw NotAvailable(
        fmt::format("this fio lacks an I/O engine ({}): install it (package fio-engine-libaio on "
                    "Fedora and RHEL), or set \"engine\": \"psync\" for the whole fleet",
                    words));
  }
}

void require_success(const ProgramEnd& end, const FioOutput& output, const fs::path& folder) {
  if (end.timed_out) {
    throw TimedOut(fmt::format("fio in {}: {}", printable_text(folder.string()), end.how()));
  }
  if (end.signal != 0) {
    fail(folder, end.how());
  }
  const std::string words = complaint(end);
  if (!output.jobs.empty()) {
    for (const FioError& error : output.errors) {
      fail(folder, error.text);
    }
  }
  if (end.exit_code != 0) {
    require_engine(words);
    fail(folder,
         words.empty() ? end.how() : fmt::format("exited with code {}: {}", end.exit_code, words));
  }
  for (const FioError& error : output.errors) {
    fail(folder, fmt::format("its output cannot be read, line {}: {} ({})", error.line, error.text,
                             error.kind));
  }
}

std::string warnings(const ProgramEnd& end, const FioOutput& output) {
  const std::string said = end.errors + "\n" + output.other_text;
  std::string all;
  for (const auto line : split(said, '\n')) {
    const auto shown = printable_text(trimmed(line));
    if (!shown.empty() && all.find(shown) == std::string::npos) {
      all += (all.empty() ? "" : "; ") + shown;
    }
  }
  return printable_text(std::string_view(all).substr(0, kWarnings_bytes));
}

}  // namespace

std::vector<std::string> fio_command(const std::vector<FioSection>& sections) {
  std::vector<std::string> command = {"fio", "--output-format=json", "--eta=never",
                                      "--disk_util=0"};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const FioSection& section = sections[i];
    command.push_back("--name=" + section.group);
    if (i > 0 && sections[i - 1].group != section.group) {
      command.emplace_back("--stonewall");  // waits for those before it; a group of its own too
    }
    command.emplace_back("--thread=1");
    command.emplace_back("--group_reporting=1");
    command.insert(command.end(), section.options.begin(), section.options.end());
  }
  return command;
}

void require_fio() {
  if (!find_program("fio")) {
    throw NotAvailable(
        "fio is not installed, or not in $PATH: install it (`apt install fio`, `dnf install fio`), "
        "or measure only \"profiles\": [\"small_files\"], which does without");
  }
}

FioRun run_fio(const std::vector<FioSection>& sections, const fs::path& folder, double limit_s) {
  require_fio();
  const ProgramEnd end =
      run_program(fio_command(sections), {.limit_s = limit_s, .folder = folder.string()});
  FioRun run{.output = read_fio_output(end.output), .wall_s = end.wall_s, .cpu_s = end.cpu_s};
  require_success(end, run.output, folder);
  run.warnings = warnings(end, run.output);
  return run;
}

const FioDirection& direction_of(const FioRun& run, const std::string& job,
                                 const std::string& direction) {
  const FioJob* found = run.output.find(job);
  if (found == nullptr || !found->directions.contains(direction)) {
    throw std::runtime_error(
        fmt::format("fio says nothing about a {} by its job {}", direction, job));
  }
  const FioDirection& figures = found->directions.at(direction);
  if (!(figures.bw_bytes_per_s > 0) || !(figures.runtime_s > 0)) {
    throw std::runtime_error(fmt::format(
        "fio's job {} took less than a millisecond, the least that fio counts: ask for more bytes",
        job));
  }
  return figures;
}

}  // namespace fleetbench
