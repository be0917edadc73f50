#include "harness/fleet/lobby.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <fstream>

#include "harness/fleet/job.hpp"
#include "harness/plan/deadline.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::fleet {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

// Two builds of one commit may differ: the checksum of the executable itself settles it.
std::string build_of_this_process() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::array<char, 65536> buffer{};
  uLong sum = crc32(0, nullptr, 0);
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    sum =
        crc32(sum, reinterpret_cast<const Bytef*>(buffer.data()), static_cast<uInt>(file.gcount()));
  }
  return fmt::format("{} {} {:08x}", kVersion, kBuild, sum);
}

void check_build(const Json& hello, int rank) {
  static const std::string ours = build_of_this_process();
  const auto theirs = hello.value("build", "");
  if (theirs != ours) {
    throw FleetError(fmt::format(
        "rank {} on {} runs another build of fleetbench ({}) than rank 0 on {} ({}): install the "
        "same one on every node",
        rank, hello.value("host", "?"), theirs, host_name(), ours));
  }
}

}  // namespace

Json hello() {
  return {{"re", "hello"},
          {"slot", -1},
          {"host", host_name()},
          {"boot_id", boot_id()},
          {"build", build_of_this_process()}};
}

std::vector<plan::RankInfo> gather(Conversation& conversation, int ranks, Progress& progress,
                                   double limit_s) {
  std::vector<plan::RankInfo> infos;
  for (int rank = 0; rank < ranks; ++rank) {
    infos.push_back({.rank = rank, .host = "", .boot_id = "", .answered = false});
  }
  const auto start = std::chrono::steady_clock::now();
  const auto waited_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> answered_s;
  while (static_cast<int>(answered_s.size()) < ranks &&
         waited_s() < plan::deadline_s(answered_s, ranks, {}, limit_s)) {
    const auto envelope = conversation.next();
    conversation.turn(envelope.has_value());
    if (!envelope || envelope->message.value("re", "") != "hello") {
      continue;
    }
    check_build(envelope->message, envelope->from);
    answered_s.push_back(waited_s());
    auto& info = infos[static_cast<std::size_t>(envelope->from)];
    info.host = envelope->message.value("host", "?");
    info.boot_id = envelope->message.value("boot_id", "");
    info.answered = true;
  }
  for (const auto& info : infos) {
    if (!info.answered) {
      progress.note(fmt::format("rank {} came up but does not answer", info.rank));
    }
  }
  return infos;
}

}  // namespace fleetbench::fleet
