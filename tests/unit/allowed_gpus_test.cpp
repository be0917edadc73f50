// What keeps a process from seeing GPUs on purpose, and what does not.
#include "probes/support/allowed_gpus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/machine.hpp"

namespace fleetbench {
namespace {

// Four GPUs, each with the driver that is named.
void plug_in(const Machine& machine, const std::vector<std::string>& drivers) {
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const std::string folder = fmt::format("/sys/bus/pci/devices/0000:{}b:00.0/", i + 1);
    machine.write(folder + "class", "0x030200\n");
    machine.write(folder + "vendor", "0x10de\n");
    if (!drivers[i].empty()) {
      machine.link(folder + "driver", "../../../bus/pci/drivers/" + drivers[i]);
    }
  }
}

void add_files(const Machine& machine, int count) {
  for (int i = 0; i < count; ++i) {
    machine.write(fmt::format("/dev/nvidia{}", i), "");
  }
  machine.write("/dev/nvidiactl", "");
  machine.write("/dev/nvidia-uvm", "");
}

struct Case {
  const char* what;
  std::vector<std::string> drivers;
  int files;
  std::set<std::string> closed;  // of them, which this process may not open
  const char* visible_devices;
  Json expected;
};

Json limit(int gpus, const char* by) { return {{"let_see", gpus}, {"let_see_by", by}}; }

const std::string kNvidia = "nvidia";
const std::vector<std::string> kFour(4, kNvidia);

TEST(AllowedGpus, AreLimitedOnPurposeOnly) {
  const Case cases[] = {
      {"nothing limits", kFour, 4, {}, nullptr, Json::object()},
      {"no driver is loaded", {"", "", "", ""}, 0, {}, nullptr, Json::object()},
      {"one is bound to nothing", {kNvidia, "", kNvidia, kNvidia}, 3, {}, nullptr, Json::object()},
      {"the driver has no files", kFour, 0, {}, nullptr, Json::object()},
      {"a container",
       kFour,
       2,
       {},
       nullptr,
       limit(2, "2 of 4 GPUs have a file /dev/nvidia* that can be opened here")},
      {"a control group",
       kFour,
       4,
       {"/dev/nvidia1", "/dev/nvidia2", "/dev/nvidia3"},
       nullptr,
       limit(1, "1 of 4 GPUs have a file /dev/nvidia* that can be opened here")},
      {"all are closed",
       kFour,
       1,
       {"/dev/nvidia0"},
       nullptr,
       limit(0, "0 of 4 GPUs have a file /dev/nvidia* that can be opened here")},
      {"a virtual machine has one",
       {kNvidia, "vfio-pci", kNvidia, kNvidia},
       3,
       {},
       nullptr,
       limit(3, "vfio-pci drives 1 of 4")},
      {"two are named", kFour, 4, {}, "0, 3", limit(2, "CUDA_VISIBLE_DEVICES=0, 3")},
      {"by UUID", kFour, 4, {}, "GPU-8f,MIG-1", limit(2, "CUDA_VISIBLE_DEVICES=GPU-8f,MIG-1")},
      {"up to what is no name", kFour, 4, {}, "0,-1,2", limit(1, "CUDA_VISIBLE_DEVICES=0,-1,2")},
      {"none is named", kFour, 4, {}, "", limit(0, "CUDA_VISIBLE_DEVICES=")},
      {"by a scheduler", kFour, 4, {}, "NoDevFiles", limit(0, "CUDA_VISIBLE_DEVICES=NoDevFiles")},
      {"more are named than a container has",
       kFour,
       1,
       {},
       "0,1",
       limit(1, "1 of 4 GPUs have a file /dev/nvidia* that can be opened here")},
  };
  for (const Case& one : cases) {
    const Machine machine;
    plug_in(machine, one.drivers);
    if (one.files > 0) {
      add_files(machine, one.files);
    }
    const auto is_usable = [&](const std::string& path) { return !one.closed.contains(path); };
    EXPECT_EQ(allowed_gpus(machine.files(), one.visible_devices, is_usable), one.expected)
        << one.what;
  }
}

}  // namespace
}  // namespace fleetbench
