#include "harness/gate/watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "harness/record/run_directory.hpp"
#include "harness/record/run_lock.hpp"

namespace fleetbench::gate {
namespace {

using namespace std::chrono_literals;

// A directory on a shared file system is not asked more often.
constexpr auto kLook = 250ms;
constexpr auto kWord = 5s;
// The root says that it is alive every ten seconds; what a network file system caches may be a
// minute old.
constexpr auto kRootSilence = 90s;
// A root that is gone leaves ranks that wait for it. One that has ended well is gone, too, and then
// the launcher ends in moments.
constexpr auto kRootGone = 3s;
// Marks are fresh every second. Who joins last may wait long for the disk.
constexpr double kStale_s = 10;
// A launcher that was told to end has to end its ranks, to whom it leaves a second themselves.
constexpr double kPatience_s = 3;

bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_' ||
         letter == '.';
}

bool names(const std::string& text, const std::string& host) {
  for (auto at = text.find(host); at != std::string::npos; at = text.find(host, at + 1)) {
    const auto end = at + host.size();
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    // "node1." at the end of a sentence, "node1.domain" is the same host.
    const bool ends = end == text.size() || !is_of_word(text[end]) || text[end] == '.';
    if (begins && ends) {
      return true;
    }
  }
  return false;
}

std::string until_dot(const std::string& host) { return host.substr(0, host.find('.')); }

bool is_address(const std::string& host) {
  return host.find_first_not_of("0123456789.") == std::string::npos ||
         host.find(':') != std::string::npos;
}

bool is_of(const record::Mark& mark, const std::string& host) {
  if (is_address(host)) {
    return std::ranges::find(mark.addresses, host) != mark.addresses.end();
  }
  return mark.host == host || until_dot(mark.host) == until_dot(host);
}

}  // namespace

const record::Mark* mark_of(const std::string& host, const std::vector<record::Mark>& marks) {
  const auto found =
      std::ranges::find_if(marks, [&](const record::Mark& mark) { return is_of(mark, host); });
  return found == marks.end() ? nullptr : &*found;
}

std::vector<std::string> without_mark(const std::vector<std::string>& hosts,
                                      const std::vector<record::Mark>& marks) {
  std::vector<std::string> missing;
  for (const auto& host : hosts) {
    if (mark_of(host, marks) == nullptr) {
      missing.push_back(host);
    }
  }
  if (!hosts.empty() || marks.empty()) {
    return missing;
  }
  std::set<int> came;
  for (const auto& mark : marks) {
    came.insert(mark.rank);
  }
  for (int rank = 0; rank < marks.front().ranks; ++rank) {
    if (!came.contains(rank)) {
      missing.push_back(fmt::format("rank {}", rank));
    }
  }
  return missing;
}

std::vector<std::string> named_in(const std::string& text, const std::vector<std::string>& hosts) {
  std::vector<std::string> found;
  std::ranges::copy_if(hosts, std::back_inserter(found),
                       [&](const std::string& host) { return names(text, host); });
  return found;
}

Watch::Watch(Watched watched, Launcher& launcher, const std::atomic<int>& stop,
             std::function<void(const std::string&)> tell)
    : watched_(std::move(watched)),
      launcher_(launcher),
      stop_(stop),
      tell_(std::move(tell)),
      next_word_(Clock::now() + kWord) {}

Outcome Watch::run() {
  while (launcher_.turn()) {
    outcome_.ended_because = look();
    if (!outcome_.ended_because.empty()) {
      // First, for a launcher that ends its ranks wakes those that stood still.
      note_absent();
      launcher_.end(kPatience_s);
      return std::move(outcome_);
    }
  }
  note_absent();
  return std::move(outcome_);
}

void Watch::note_absent() {
  outcome_.came_up = outcome_.came_up || record::RunDirectory::holds_run(watched_.directory);
  if (outcome_.came_up) {
    return;
  }
  const auto marks = record::read_marks(watched_.directory);
  const auto missing = without_mark(watched_.hosts, marks);
  if (!marks.empty()) {
    outcome_.absent = missing;
  } else if (outcome_.ended_because.empty()) {
    // The launcher itself failed, perhaps since it could not reach somebody.
    outcome_.absent = named_in(launcher_.last_words(), missing);
  }
  for (auto& host : stopped_before_joining(marks)) {
    outcome_.absent.push_back(std::move(host));
  }
  if (outcome_.absent.size() == watched_.hosts.size()) {
    outcome_.absent.clear();  // not the hosts are at fault
  }
}

std::string Watch::look() {
  if (stop_ > 0) {
    return "interrupted by a signal";
  }
  if (Clock::now() > watched_.until) {
    return "the time of the run (--budget) was used up";
  }
  if (Clock::now() < next_look_) {
    return "";
  }
  next_look_ = Clock::now() + kLook;
  if (!outcome_.came_up && !record::RunDirectory::holds_run(watched_.directory)) {
    return look_at_launch();
  }
  outcome_.came_up = true;
  return look_at_root();
}

std::string Watch::look_at_launch() {
  if (Clock::now() > watched_.launch_until) {
    return "not all ranks came up in time (--launch-limit)";
  }
  if (Clock::now() > next_word_) {
    next_word_ = Clock::now() + kWord;
    tell_who_is_missing();
  }
  return "";
}

void Watch::tell_who_is_missing() {
  const auto missing = without_mark(watched_.hosts, record::read_marks(watched_.directory));
  constexpr std::size_t kMost = 4;
  const auto shown = std::vector<std::string>(
      missing.begin(), missing.begin() + static_cast<long>(std::min(kMost, missing.size())));
  if (!missing.empty()) {
    tell_(fmt::format("waiting for {}{} to come up", fmt::join(shown, ", "),
                      missing.size() > kMost ? fmt::format(" and {} more", missing.size() - kMost)
                                             : std::string()));
  }
}

std::string Watch::look_at_root() {
  const auto now = Clock::now();
  const auto alive_ns = record::last_alive_ns(watched_.directory);
  if (!alive_ns) {
    return "";  // somebody removed the folder, and nothing in it tells of the root any more
  }
  if (alive_ns != alive_ns_ || alive_ == Clock::time_point()) {
    alive_ns_ = alive_ns;
    alive_ = now;
  }
  if (record::is_locked(watched_.directory)) {
    was_locked_ = true;
    locked_ = now;
  }
  outcome_.root_lost = (was_locked_ && now - locked_ > kRootGone) || now - alive_ > kRootSilence;
  if (was_locked_ && now - locked_ > kRootGone) {
    return "rank 0, which leads the run, is gone";
  }
  return outcome_.root_lost ? "rank 0, which leads the run, has stopped" : "";
}

// Their marks stand still while those of others are kept fresh.
std::vector<std::string> Watch::stopped_before_joining(
    const std::vector<record::Mark>& marks) const {
  long long latest_ns = 0;
  for (const auto& mark : marks) {
    latest_ns = std::max(latest_ns, mark.alive_ns);
  }
  std::vector<std::string> stopped;
  for (const auto& mark : marks) {
    if (static_cast<double>(latest_ns - mark.alive_ns) > kStale_s * 1e9) {
      const auto expected = std::ranges::find_if(
          watched_.hosts, [&](const std::string& host) { return is_of(mark, host); });
      stopped.push_back(expected == watched_.hosts.end() ? mark.host : *expected);
    }
  }
  return stopped;
}

}  // namespace fleetbench::gate
