// Watches over a launched run until it is over, whatever the launcher, its daemons and the root do.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/launcher.hpp"
#include "harness/record/marks.hpp"

namespace fleetbench::gate {

using Clock = std::chrono::steady_clock;

struct Watched {
  std::filesystem::path directory;  // of the run
  std::vector<std::string> hosts;   // expected; empty: not known
  Clock::time_point launch_until;   // all ranks are in the job
  Clock::time_point until;          // all is over
};

struct Outcome {
  // Why the launcher was ended; empty where it ended by itself.
  std::string ended_because;
  bool came_up = false;             // the root has begun the run
  bool root_lost = false;           // ... and is gone, or has stopped
  std::vector<std::string> absent;  // hosts that did not come up, or stopped before they joined
};

// Hosts without a mark. Where none is expected by name but ranks are missing, "rank 3".
std::vector<std::string> without_mark(const std::vector<std::string>& hosts,
                                      const std::vector<record::Mark>& marks);

// Host names in a text, as whole words.
std::vector<std::string> named_in(const std::string& text, const std::vector<std::string>& hosts);

// The mark of an expected host, which may be an address; null where there is none.
const record::Mark* mark_of(const std::string& host, const std::vector<record::Mark>& marks);

class Watch {
 public:
  // `stop` is set when somebody asks the gate to end. `tell` is for a person: who is waited for.
  Watch(Watched watched, Launcher& launcher, const std::atomic<int>& stop,
        std::function<void(const std::string&)> tell);

  // Returns when the launcher is gone, one way or another.
  Outcome run();

 private:
  // Why the launcher has to be ended now; empty where it has not.
  std::string look();
  std::string look_at_launch();
  std::string look_at_root();
  void note_absent();
  std::vector<std::string> stopped_before_joining(const std::vector<record::Mark>& marks) const;
  void tell_who_is_missing();

  Watched watched_;
  Launcher& launcher_;
  const std::atomic<int>& stop_;
  std::function<void(const std::string&)> tell_;
  Outcome outcome_;
  Clock::time_point next_look_ = Clock::now();
  Clock::time_point next_word_;
  std::optional<long long> alive_ns_;  // what the root's lock said last
  Clock::time_point alive_;            // when that changed
  bool was_locked_ = false;
  Clock::time_point locked_;  // when the root was last seen to hold its lock
};

}  // namespace fleetbench::gate
