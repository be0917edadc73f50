#include "probes/support/disk_facts.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "probes/support/pci_facts.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

const fs::path kBlockFolder = "/sys/block";
constexpr std::int64_t kSectorBytes = 512;  // of the file `size`, whatever the disk's own sectors

std::optional<std::int64_t> scaled(std::optional<std::int64_t> value, std::int64_t factor) {
  if (!value || *value < 0 || *value > std::numeric_limits<std::int64_t>::max() / factor) {
    return std::nullopt;
  }
  return *value * factor;
}

std::optional<bool> rotational(const HostFiles& files, const fs::path& queue) {
  const auto value = files.read_integer(queue / "rotational");
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::optional<std::string> scheduler(const HostFiles& files, const fs::path& queue) {
  const auto line = files.read_line(queue / "scheduler");  // "[none] mq-deadline"
  return line ? bracketed(*line) : std::nullopt;
}

// NVMe calls it firmware_rev, SCSI and SATA call it rev.
std::optional<std::string> firmware(const HostFiles& files, const fs::path& device) {
  const auto revision = files.read_line(device / "firmware_rev");
  return revision ? revision : files.read_line(device / "rev");
}

Json disk(const HostFiles& files, const std::string& name) {
  const fs::path folder = kBlockFolder / name;
  const fs::path queue = folder / "queue";
  const fs::path device = folder / "device";
  return {{"name", name},
          {"model", fact(files.read_line(device / "model"))},
          {"firmware", fact(firmware(files, device))},
          {"serial", fact(files.read_line(device / "serial"))},
          {"size_bytes", fact(scaled(files.read_integer(folder / "size"), kSectorBytes))},
          {"rotational", fact(rotational(files, queue))},
          {"scheduler", fact(scheduler(files, queue))},
          {"read_ahead_bytes", fact(scaled(files.read_integer(queue / "read_ahead_kb"), 1024))},
          {"pci_address", fact(pci_address_of(files, device))}};
}

bool is_memory_or_file(const std::string& name) {
  return name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram");
}

}  // namespace

FactList disk_facts(const HostFiles& files) {
  auto names = files.list(kBlockFolder);
  if (!names) {
    return {};
  }
  std::erase_if(*names, is_memory_or_file);
  FactList facts{.entries = Json::array(), .left_off = cut_to(kMaxDisks, *names)};
  for (const std::string& name : *names) {
    facts.entries.push_back(disk(files, name));
  }
  return facts;
}

}  // namespace fleetbench
