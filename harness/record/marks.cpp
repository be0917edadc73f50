#include "harness/record/marks.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr int kMostRanks = 10'000'000;

namespace fs = std::filesystem;

fs::path folder(const fs::path& directory) { return directory / "hello"; }

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) {
    return addresses;
  }
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = one->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    } else if (family == AF_INET6) {
      address = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    }
    if (address != nullptr && inet_ntop(family, address, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  freeifaddrs(all);
  return addresses;
}

// A host name is what somebody set it to.
std::string file_name(const std::string& host, int rank) {
  std::string name = fmt::format("{}.{}", host, rank);
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' ||
                       letter == '-' || letter == '_';
    letter = plain ? letter : '_';
  }
  return name.starts_with('.') ? "_" + name : name;
}

Json to_json(const Mark& mark) {
  return {{"host", mark.host},
          {"rank", mark.rank},
          {"ranks", mark.ranks},
          {"pid", getpid()},
          {"addresses", mark.addresses}};
}

std::optional<Mark> read_mark(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > 65536) {
    return std::nullopt;
  }
  try {
    const Json json = parse_foreign_json(read_whole(path));
    const int rank = json.at("rank").get<int>();
    const int ranks = json.at("ranks").get<int>();
    if (rank < 0 || rank >= ranks || ranks > kMostRanks) {
      return std::nullopt;
    }
    return Mark{.host = json.at("host").get<std::string>(),
                .rank = rank,
                .ranks = ranks,
                .addresses = json.at("addresses").get<std::vector<std::string>>(),
                .alive_ns = status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec};
  } catch (const std::exception&) {
    return std::nullopt;  // not whole yet
  }
}

}  // namespace

OwnMark::OwnMark(const fs::path& directory, int rank, int ranks) {
  std::error_code error;
  create_own_folder(folder(directory), error);
  const Mark mark{.host = host_name(),
                  .rank = rank,
                  .ranks = ranks,
                  .addresses = own_addresses(),
                  .alive_ns = 0};
  const auto path = folder(directory) / file_name(mark.host, rank);
  write_whole(path, to_json(mark).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n",
              ToDisk::later);
  file_ = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file_ < 0) {
    throw std::system_error(errno, std::generic_category(), path.string() + ": cannot be opened");
  }
}

OwnMark::~OwnMark() { ::close(file_); }

void OwnMark::say_alive() const { ::futimens(file_, nullptr); }

std::vector<Mark> read_marks(const fs::path& directory) {
  std::vector<Mark> marks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder(directory), error)) {
    if (auto mark = read_mark(entry.path()); mark && entry.path().extension() != ".part") {
      marks.push_back(std::move(*mark));
    }
  }
  return marks;
}

void remove_marks(const fs::path& directory) {
  std::error_code error;
  fs::remove_all(folder(directory), error);
}

}  // namespace fleetbench::record
