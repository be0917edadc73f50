#include "tests/gpu_sim/nccl/log.hpp"

#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "tests/gpu_sim/model/setting_text.hpp"

namespace gpu_sim::nccl {

namespace {

enum class Level { none, version, warn, info };

constexpr std::array<std::pair<const char*, Subsystem>, 9> kSubsystems{
    {{"INIT", Subsystem::init},
     {"COLL", Subsystem::coll},
     {"P2P", Subsystem::p2p},
     {"SHM", Subsystem::shm},
     {"NET", Subsystem::net},
     {"GRAPH", Subsystem::graph},
     {"TUNING", Subsystem::tuning},
     {"ENV", Subsystem::env},
     {"BOOTSTRAP", Subsystem::bootstrap}}};

unsigned bit(Subsystem subsystem) { return static_cast<unsigned>(subsystem); }

bool same(std::string_view a, const char* b) { return strcasecmp(std::string(a).c_str(), b) == 0; }

Level level_setting() {
  const char* value = std::getenv("NCCL_DEBUG");
  if (value == nullptr) {
    return Level::none;
  }
  return same(value, "VERSION")                                                ? Level::version
         : same(value, "WARN")                                                 ? Level::warn
         : same(value, "INFO") || same(value, "TRACE") || same(value, "ABORT") ? Level::info
                                                                               : Level::none;
}

unsigned subsystems_setting() {
  const char* value = std::getenv("NCCL_DEBUG_SUBSYS");
  if (value == nullptr) {
    return bit(Subsystem::init) | bit(Subsystem::env) | bit(Subsystem::bootstrap);
  }
  std::string_view text = value;
  const bool all_but = text.starts_with('^');
  text.remove_prefix(all_but ? 1 : 0);
  unsigned named = 0;
  for (const std::string_view part : parts_of(text, ',')) {
    for (const auto& [name, subsystem] : kSubsystems) {
      named |= same(part, name) ? bit(subsystem) : 0U;
    }
    named |= same(part, "ALL") ? ~0U : 0U;
  }
  return all_but ? ~named : named;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// %h is the host's name, %p the process.
std::string file_name(std::string_view pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[++i] : pattern[i];
    if (i > 0 && pattern[i - 1] == '%' && next == 'h') {
      name += host_name();
    } else if (i > 0 && pattern[i - 1] == '%' && next == 'p') {
      name += std::to_string(getpid());
    } else {
      name += next;
    }
  }
  return name;
}

struct Log {
  std::mutex mutex;
  const Level level = level_setting();
  const unsigned subsystems = subsystems_setting();
  std::FILE* file = stdout;
  std::string last_error;

  Log() {
    const char* pattern = std::getenv("NCCL_DEBUG_FILE");
    if (pattern != nullptr && *pattern != 0 && level > Level::version) {
      std::FILE* opened = std::fopen(file_name(pattern).c_str(), "w");
      file = opened == nullptr ? stdout : opened;
      std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);
    }
  }
};

Log& the_log() {
  static Log* log = new Log;
  return *log;
}

std::string where() {
  return host_name() + ":" + std::to_string(getpid()) + ":" + std::to_string(syscall(SYS_gettid));
}

}  // namespace

bool informs(Subsystem subsystems) {
  return the_log().level == Level::info && (the_log().subsystems & bit(subsystems)) != 0;
}

void inform(Subsystem subsystems, int cuda, const std::string& text) {
  if (informs(subsystems)) {
    const std::lock_guard lock(the_log().mutex);
    std::fprintf(the_log().file, "%s [%d] NCCL INFO %s\n", where().c_str(), cuda, text.c_str());
  }
}

void warn(const std::string& text) {
  const std::lock_guard lock(the_log().mutex);
  the_log().last_error = text;
  if (the_log().level >= Level::warn) {
    std::fprintf(the_log().file, "\n%s [0] NCCL WARN %s\n", where().c_str(), text.c_str());
  }
}

std::string last_error() {
  const std::lock_guard lock(the_log().mutex);
  return the_log().last_error;
}

}  // namespace gpu_sim::nccl
