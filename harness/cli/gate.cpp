// `fleetbench gate -- LAUNCHER ... fleetbench ...`: a run whose verdict no launcher masks.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "harness/cli/aftermath.hpp"
#include "harness/cli/gate_options.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/run_plan.hpp"
#include "harness/cli/topology_source.hpp"
#include "harness/gate/watch.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

namespace fs = std::filesystem;
using gate::Words;

constexpr int kMostAttempts = 3;
// The run ends by itself within its budget and some seconds; the gate waits no longer than that.
constexpr double kAfterBudget_s = 1;
// Of the budget: what starting the ranks and ending the launcher takes.
constexpr double kLaunching_s = 2;
// A launch and a few slots take at least as long.
constexpr double kShortestRun_s = 10;
// Ranks leave the end of a launch that hangs to the gate.
constexpr double kRankPatience_s = 30;

std::atomic<int> stop_requested = 0;

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++stop_requested; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::optional<std::string> text_of(const std::string& path) {
  try {
    return record::read_whole(path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void say(const std::string& text) { complain(text); }

class Gate {
 public:
  Gate(GateOptions options, std::chrono::steady_clock::time_point start);
  int run();

 private:
  struct Attempt {
    gate::Outcome outcome;
    Verdict verdict = Verdict::inconclusive;
  };
  void require_topology() const;
  double left_s() const;
  Words words() const;
  Attempt attempt();
  std::string reason(const gate::Outcome& outcome, const gate::Launcher& launcher) const;
  bool leave_out(const Attempt& attempt);
  void move_aside(int number) const;

  GateOptions options_;
  std::chrono::steady_clock::time_point start_;
  fs::path directory_;
  Words hosts_;    // expected, of the whole fleet
  Words without_;  // left out by now
};

Gate::Gate(GateOptions options, std::chrono::steady_clock::time_point start)
    : options_(std::move(options)), start_(start) {
  const auto of_command = gate::argument(options_.command, "--out");
  if (!options_.out.empty() && of_command) {
    throw InputError("--out is given to the gate and in its command; give it once");
  }
  directory_ = !options_.out.empty() ? options_.out
               : of_command          ? *of_command
                                     : new_run_folder("gate").string();
  require_topology();
  hosts_ = options_.hosts.empty() ? gate::hosts_of(options_.command, text_of) : options_.hosts;
  record::RunDirectory::create(directory_);  // it has to be free, and there before the ranks are
  record::remove_marks(directory_);
}

// A fault in it ends the run before anything is measured; before anything is started is better.
void Gate::require_topology() const {
  const auto of_command = gate::argument(options_.command, "--topology");
  if (!options_.topology.empty() && of_command) {
    throw InputError("--topology is given to the gate and in its command; give it once");
  }
  if (!options_.topology.empty() || of_command) {
    read_topology_file(of_command.value_or(options_.topology));
  }
}

double Gate::left_s() const {
  const double passed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return options_.budget_s ? *options_.budget_s - passed_s
                           : std::numeric_limits<double>::infinity();
}

// The command, with what the run has to know at its end.
Words Gate::words() const {
  Words left;
  std::ranges::copy_if(hosts_, std::back_inserter(left), [&](const std::string& host) {
    return std::ranges::find(without_, host) == without_.end();
  });
  Words words =
      hosts_.empty() ? options_.command : gate::with_hosts(options_.command, hosts_, left, text_of);
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!gate::argument(options_.command, name)) {
      words.push_back(name);
      words.push_back(value);
    }
  };
  words.push_back("--under-gate");
  add("--out", directory_.string());
  add("--launch-limit", fmt::format("{:.0f}", options_.launch_limit_s + kRankPatience_s));
  if (options_.budget_s) {
    add("--budget", fmt::format("{:.1f}", std::max(5.0, left_s() - kLaunching_s)));
  }
  if (!options_.topology.empty()) {
    add("--topology", options_.topology);
  }
  if (!without_.empty()) {
    add("--without", fmt::format("{}", fmt::join(without_, ",")));
  }
  if (options_.json && std::ranges::find(options_.command, "--json") == options_.command.end()) {
    words.push_back("--json");
  }
  return words;
}

Gate::Attempt Gate::attempt() {
  using gate::Clock;
  const auto after = [](double seconds) {
    constexpr double kEver_s = 1e8;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(std::min(seconds, kEver_s)));
  };
  gate::Launcher launcher(words());
  Words expected;
  std::ranges::copy_if(hosts_, std::back_inserter(expected), [&](const std::string& host) {
    return std::ranges::find(without_, host) == without_.end();
  });
  gate::Watch watch({.directory = directory_,
                     .hosts = expected,
                     .launch_until = after(std::min(options_.launch_limit_s, left_s())),
                     .until = after(left_s() + kAfterBudget_s)},
                    launcher, stop_requested, say);
  Attempt attempt{.outcome = watch.run()};
  auto absent = attempt.outcome.absent;
  absent.insert(absent.end(), without_.begin(), without_.end());
  attempt.verdict = close_run(directory_, {.hosts = hosts_,
                                           .absent = absent,
                                           .lost = launcher.lost_daemons(),
                                           .root_lost = attempt.outcome.root_lost,
                                           .reason = reason(attempt.outcome, launcher),
                                           .json = options_.json});
  return attempt;
}

std::string Gate::reason(const gate::Outcome& outcome, const gate::Launcher& launcher) const {
  std::string text =
      outcome.ended_because.empty()
          ? fmt::format("the launcher {} before the run was over", launcher.how_it_ended())
          : outcome.ended_because;
  if (const auto words = launcher.last_words(); !words.empty() && outcome.ended_because.empty()) {
    text += "; its last words: " + words;
  }
  return text;
}

// Whether there is somebody new to leave out, and somebody left.
bool Gate::leave_out(const Attempt& attempt) {
  auto lost = attempt.outcome.absent;
  for (auto& node : lost_nodes(directory_)) {
    lost.push_back(std::move(node));
  }
  const auto before = without_.size();
  const auto marks = record::read_marks(directory_);
  for (const auto& host : hosts_) {
    const auto* mark = gate::mark_of(host, marks);
    const bool is_lost = std::ranges::find(lost, host) != lost.end() ||
                         (mark != nullptr && std::ranges::find(lost, mark->host) != lost.end());
    if (is_lost && std::ranges::find(without_, host) == without_.end()) {
      without_.push_back(host);
    }
  }
  return without_.size() > before && without_.size() < hosts_.size();
}

// What an attempt left stays, in a folder of its own.
void Gate::move_aside(int number) const {
  const fs::path aside = directory_ / fmt::format("attempt-{}", number);
  std::error_code error;
  record::create_own_folder(aside, error);
  if (error) {
    throw std::system_error(error, aside.string());
  }
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("attempt-") && name != "lock") {
      fs::rename(entry.path(), aside / name);
    }
  }
}

int Gate::run() {
  stop_on_signals();
  Attempt last = attempt();
  for (int number = 1; options_.retry_without_lost && number < kMostAttempts; ++number) {
    if (stop_requested > 0 || left_s() < kShortestRun_s || !leave_out(last)) {
      break;
    }
    move_aside(number);
    say(fmt::format("starting again without {}", fmt::join(without_, ", ")));
    last = attempt();
  }
  say(fmt::format("{}; the run is in {}", to_string(last.verdict), directory_.string()));
  return nagios_code(last.verdict);
}

}  // namespace

int gate_command(const Invocation& invocation) {
  std::string help;
  auto options = parse_gate_options(invocation, help);
  if (!options) {
    fmt::print("{}", help);
    return kOk;
  }
  return Gate(std::move(*options), invocation.start).run();
}

}  // namespace fleetbench::cli
