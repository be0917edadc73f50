#include <gtest/gtest.h>

#include <filesystem>

#include "probes/registry.hpp"
#include "probes/support/cgroup_limits.hpp"
#include "probes/support/cpu_list.hpp"
#include "probes/support/launch_warnings.hpp"
#include "probes/support/mount_facts.hpp"
#include "probes/support/mountinfo.hpp"
#include "probes/support/network_facts.hpp"
#include "probes/support/node_inventory.hpp"
#include "probes/support/pci_facts.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/system_facts.hpp"
#include "probes/support/text_fields.hpp"
#include "tests/unit/machine.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

const Json& eight_gpu_node() {
  static const Json inventory = [] {
    const Machine machine;
    machine.load(fs::path(FLEETBENCH_SOURCE_DIR) / "tests/data/inventory/eight_gpu_node.tree");
    return node_inventory(machine.files());
  }();
  return inventory;
}

Json entry_with(const Json& entries, const char* key, const std::string& value) {
  for (const Json& entry : entries) {
    if (entry.at(key) == value) {
      return entry;
    }
  }
  return {};
}

TEST(EightGpuNode, Cpu) {
  EXPECT_EQ(eight_gpu_node().at("cpu"), Json::parse(R"({
    "model": "Intel(R) Xeon(R) Platinum 8480C", "microcode": "0x2b000603",
    "flags": ["avx", "avx2", "fma", "avx512f", "avx512vl", "amx_tile", "amx_int8", "amx_bf16"],
    "sockets": 2, "cores": 8, "threads": 16, "smt": true,
    "cpus_online": "0-15", "cpuset_cpus": "0-7", "cpuset_cpu_count": 8, "cpu_quota_cores": 4.0,
    "governors": ["performance", "powersave"], "frequency_driver": "intel_pstate",
    "min_frequency_hz": 800000000, "max_frequency_hz": 3800000000,
    "base_frequency_hz": 2000000000, "allowed_max_frequency_hz": 2500000000, "boost": true})"));
}

TEST(EightGpuNode, MemoryAndNuma) {
  EXPECT_EQ(eight_gpu_node().at("memory"), Json::parse(R"({
    "total_bytes": 2164237795328, "available_bytes": 2099200000000, "swap_total_bytes": 0,
    "memory_limit_bytes": 1082118897664,
    "huge_pages": [{"page_bytes": 2097152, "total": 8, "free": 6}],
    "transparent_huge_pages": "madvise", "transparent_huge_pages_defrag": "defer+madvise",
    "numa_balancing": 1})"));
  EXPECT_EQ(eight_gpu_node().at("numa"), Json::parse(R"([
    {"node": 0, "cpus": "0-3,8-11", "memory_total_bytes": 1082118897664,
     "memory_free_bytes": 1024000000000, "distances": [10, 21]},
    {"node": 1, "cpus": "4-7,12-15", "memory_total_bytes": 1082118897664,
     "memory_free_bytes": 1024000000000, "distances": [21, 10]}])"));
}

TEST(EightGpuNode, PciLinks) {
  const Json& pci = eight_gpu_node().at("pci");
  EXPECT_EQ(pci.size(), 14u);
  EXPECT_EQ(entry_with(pci, "address", "0000:9b:00.0"), Json::parse(R"({
    "address": "0000:9b:00.0", "class": "0x030200", "vendor": "0x10de", "device": "0x2330",
    "driver": "nvidia", "numa_node": 1, "current_link_width": 8, "max_link_width": 16,
    "current_link_speed_gt_per_s": 32.0, "max_link_speed_gt_per_s": 32.0})"));
  EXPECT_EQ(entry_with(pci, "address", "0000:9a:00.0").at("current_link_width"), 16);
  EXPECT_EQ(entry_with(pci, "address", "0000:00:00.0"), Json::parse(R"({
    "address": "0000:00:00.0", "class": "0x060000", "vendor": "0x8086", "device": "0x09a2"})"));
}

TEST(EightGpuNode, GpusWithoutTheConsoleAndTheSwitch) {
  const Json& gpus = eight_gpu_node().at("gpus");
  ASSERT_EQ(gpus.size(), 8u);
  EXPECT_EQ(gpus[0], Json::parse(R"({"address": "0000:18:00.0", "vendor": "0x10de",
                                     "device": "0x2330"})"));
}

TEST(EightGpuNode, Network) {
  EXPECT_EQ(eight_gpu_node().at("nics"), Json::parse(R"([
    {"name": "ibs1", "virtual": false, "speed_mbit": 400000, "duplex": "full", "mtu": 4092,
     "operstate": "up", "mac": "00:00:10:49", "driver": "mlx5_core",
     "pci_address": "0000:4b:00.0", "numa_node": 0},
    {"name": "bond0", "virtual": true, "speed_mbit": null, "duplex": null, "mtu": 1500,
     "operstate": "down", "mac": null, "driver": null, "pci_address": null, "numa_node": null}])"));
  EXPECT_EQ(eight_gpu_node().at("infiniband_ports"), Json::parse(R"json([
    {"device": "mlx5_0", "port": 1, "state": "ACTIVE", "phys_state": "LinkUp",
     "rate": "400 Gb/sec (4X NDR)", "rate_gbit": 400.0, "link_layer": "InfiniBand",
     "firmware": "28.39.2048", "board": "MT_0000000838", "pci_address": "0000:4b:00.0",
     "numa_node": 0
},
    {"device": "mlx5_1", "port": 1, "state": "DOWN", "phys_state": "Disabled",
     "rate": "2.5 Gb/sec (1X SDR)", "rate_gbit": 2.5, "link_layer": "InfiniBand",
     "firmware": "28.39.2048", "board": "MT_0000000838", "pci_address": "0000:cc:00.0",
     "numa_node": 1}])json"));
}

TEST(EightGpuNode, Storage) {
  EXPECT_EQ(eight_gpu_node().at("disks"), Json::parse(R"([
    {"name": "nvme0n1", "model": "SAMSUNG MZWLO3T8HCLS-00A07", "firmware": "OPPA4B5Q",
     "serial": "S6WXNA0", "size_bytes": 3840755982336, "rotational": false, "scheduler": "none",
     "read_ahead_bytes": 131072, "pci_address": "0000:6a:00.0"}])"));
  EXPECT_EQ(eight_gpu_node().at("mounts"), Json::parse(R"([
    {"mount_point": "/", "fs_type": "ext4", "source": "/dev/nvme0n1p2",
     "options": "rw,relatime,errors=remount-ro"},
    {"mount_point": "/data", "fs_type": "lustre", "source": "10.0.0.1@o2ib:/scratch",
     "options": "rw,relatime,flock"}])"));
}

TEST(EightGpuNode, System) {
  const Json& node = eight_gpu_node();
  EXPECT_EQ(node.at("hostname"), "gpu-17");
  EXPECT_EQ(node.at("os"), "Ubuntu 24.04.2 LTS");
  EXPECT_EQ(node.at("kernel"), Json::parse(R"({
    "release": "6.8.0-60-generic", "version": "#63-Ubuntu SMP PREEMPT_DYNAMIC",
    "boot_id": "843d2e9e-2fd7-49d7-bb8d-ef6bca4517cf", "clocksource": "tsc",
    "options": ["mitigations=off", "isolcpus=2-3", "iommu=pt"],
    "modules": {"nvidia": "570.124.06", "nvidia_peermem": "570.124.06", "ib_core": null}})"));
  EXPECT_EQ(node.at("machine").at("product"), "SYS-821GE-TNHR");
  EXPECT_EQ(node.at("machine").at("bios_date"), "11/22/2023");
  EXPECT_EQ(node.at("machine").at("board_serial"), Json());
  EXPECT_EQ(node.at("limits"), Json::parse(R"({
    "nofile": {"soft": 1024, "hard": 524288}, "nproc": {"soft": 4127834, "hard": 4127834},
    "memlock_bytes": {"soft": "unlimited", "hard": "unlimited"},
    "stack_bytes": {"soft": 8388608, "hard": "unlimited"}})"));
}

TEST(EightGpuNode, NothingOfTheCommandLineThatMayBeSecret) {
  EXPECT_EQ(eight_gpu_node().dump().find("hunter2"), std::string::npos);
}

TEST(Inventory, OfAnEmptyMachineIsNulls) {
  const Machine machine;
  const Json inventory = node_inventory(machine.files());
  for (const char* key :
       {"hostname", "os", "numa", "nics", "infiniband_ports", "disks", "mounts", "pci", "gpus"}) {
    EXPECT_TRUE(inventory.at(key).is_null()) << key;
  }
  for (const char* key : {"machine", "kernel", "cpu", "memory", "limits"}) {
    for (const auto& [name, value] : inventory.at(key).items()) {
      EXPECT_TRUE(value.is_null()) << key << "." << name;
    }
  }
  EXPECT_TRUE(launch_warnings(inventory).empty());
}

TEST(Inventory, SurvivesInvalidUtf8AndControlCharacters) {
  const Machine machine;
  machine.write("/sys/class/dmi/id/product_name", "Serv\xff\xfe\x1b[31mer\n");
  machine.write("/sys/class/net/eth\xc3/mtu", "1500\n");
  const Json inventory = node_inventory(machine.files());
  EXPECT_EQ(inventory.at("machine").at("product"), "Serv\uFFFD\uFFFD [31mer");
  EXPECT_EQ(inventory.at("nics")[0].at("name"), "eth\uFFFD");
  EXPECT_EQ(inventory.at("nics")[0].at("mtu"), 1500);
  EXPECT_NO_THROW(inventory.dump());
}

TEST(Inventory, SurvivesNonsense) {
  const Machine machine;
  machine.write("/proc/cpuinfo", std::string(3 << 20, 'x'));
  machine.write("/proc/meminfo", "MemTotal: 99999999999999999999 kB\nMemAvailable: -4 kB\n");
  machine.write("/sys/devices/system/cpu/online", "0-99999999\n");
  machine.write("/sys/devices/system/node/nodeX/cpulist", "0\n");
  machine.write("/sys/block/sda/size", "9223372036854775807\n");
  machine.write("/sys/bus/pci/devices/0000:00:00.0/max_link_width", "wide\n");
  machine.write("/proc/self/cgroup", "::\n0::\n:::/\nx\n");
  machine.write("/proc/self/limits", "Max open files\nMax processes 1\n");
  const Json inventory = node_inventory(machine.files());
  EXPECT_EQ(inventory.at("memory").at("total_bytes"), Json());
  EXPECT_EQ(inventory.at("memory").at("available_bytes"), Json());
  EXPECT_EQ(inventory.at("cpu").at("threads"), Json());
  EXPECT_EQ(inventory.at("numa"), Json::array());
  EXPECT_EQ(inventory.at("disks")[0].at("size_bytes"), Json());
  EXPECT_EQ(inventory.at("pci"), Json::parse(R"([{"address": "0000:00:00.0"}])"));
  EXPECT_EQ(inventory.at("limits").at("nofile"), Json());
}

TEST(Inventory, OfThisMachineThroughTheProbe) {
  const auto probe = make_inventory();
  EXPECT_EQ(probe->info().name, "inventory");
  EXPECT_TRUE(probe->info().facts_only);
  EXPECT_TRUE(probe->metrics(Json::object()).empty());
  const Measurement measurement =
      probe->prepare(Json::object(), probe->calibrate(Json::object()))->measure();
  EXPECT_TRUE(measurement.values.empty());
  EXPECT_TRUE(measurement.detail.at("kernel").at("release").is_string());
  EXPECT_GT(measurement.detail.at("memory").at("total_bytes").get<std::int64_t>(), 0);
  EXPECT_GE(measurement.detail.at("cpu").at("threads").get<int>(), 1);
}

TEST(HostFiles, LongTextEndsAtALine) {
  const Machine machine;
  machine.write("/long", std::string(HostFiles::kMaxFileBytes - 2, 'a') + "\nlast line\n");
  EXPECT_EQ(machine.files().read_text("/long")->size(), HostFiles::kMaxFileBytes - 1);
  machine.write("/one_line", std::string(HostFiles::kMaxFileBytes + 9, 'a'));
  EXPECT_EQ(machine.files().read_text("/one_line")->size(), HostFiles::kMaxFileBytes);
}

TEST(HostFiles, WhatIsNotThereOrNotOfTheFormIsNothing) {
  const Machine machine;
  machine.write("/folder/empty", "");
  machine.write("/folder/blank", " \t\n7\n");
  machine.write("/folder/number", " 12\n13\n");
  machine.write("/folder/unit", "12 kB\n");
  const HostFiles files = machine.files();
  EXPECT_EQ(files.read_text("/folder"), std::nullopt);
  EXPECT_EQ(files.read_text("/none"), std::nullopt);
  EXPECT_EQ(files.read_text("/folder/empty"), "");
  EXPECT_EQ(files.read_line("/folder/empty"), std::nullopt);
  EXPECT_EQ(files.read_line("/folder/blank"), std::nullopt);
  EXPECT_EQ(files.read_integer("/folder/number"), 12);
  EXPECT_EQ(files.read_integer("/folder/unit"), std::nullopt);
  EXPECT_EQ(files.list("/none"), std::nullopt);
  EXPECT_EQ(files.link_name("/folder/number"), std::nullopt);
  EXPECT_EQ(files.resolved("/none"), std::nullopt);
}

TEST(CpuList, Parses) {
  const std::vector<std::pair<const char*, std::vector<int>>> table = {
      {"", {}},
      {"\n", {}},
      {"0", {0}},
      {"0-3,8\n", {0, 1, 2, 3, 8}},
      {"8,0-1", {0, 1, 8}},
      {"1-2,2-3", {1, 2, 3}},
      {"65535", {65535}},
  };
  for (const auto& [text, cpus] : table) {
    EXPECT_EQ(parse_cpu_list(text), cpus) << text;
  }
}

TEST(CpuList, RefusesWhatIsNoList) {
  for (const char* text : {"a", "3-1", "1,,2", ",", "0-", "-1", "1-2-3", "0x3", "1 2", "1,",
                           "65536", "0-99999999999999999999", "0-31:2/4"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(CpuList, Formats) {
  EXPECT_EQ(format_cpu_list({}), "");
  EXPECT_EQ(format_cpu_list({5}), "5");
  EXPECT_EQ(format_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(TextFields, Tables) {
  EXPECT_EQ(leading_number("16.0 GT/s PCIe"), 16.0);
  EXPECT_EQ(leading_number("8 GT/s"), 8.0);
  for (const char* text : {"", "Unknown", "inf", "nan", "-1"}) {
    EXPECT_EQ(leading_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(bracketed("always [madvise] never"), "madvise");
  for (const char* text : {"", "none", "]none[", "[none"}) {
    EXPECT_EQ(bracketed(text), std::nullopt) << text;
  }
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(words(" a\t b \n").size(), 2u);
}

TEST(Mountinfo, DecodesEscapesAndOptionalFields) {
  const auto mounts = parse_mountinfo(
      "36 35 98:0 /a\\040b /mnt/my\\040data\\134x rw,noatime master:1 propagate_from:2 - ext3 "
      "/dev/disk\\011one rw,errors=continue\n"
      "37 35 98:0 / /plain rw - tmpfs  rw\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].root, "/a b");
  EXPECT_EQ(mounts[0].mount_point, "/mnt/my data\\x");
  EXPECT_EQ(mounts[0].fs_type, "ext3");
  EXPECT_EQ(mounts[0].source, "/dev/disk\tone");
  EXPECT_EQ(mounts[0].super_options, "rw,errors=continue");
  EXPECT_EQ(mounts[1].source, "");
}

TEST(Mountinfo, LeavesOutLinesOfAnotherForm) {
  for (const char* text : {"", "\n", "36 35 98:0 / /mnt rw", "36 35 98:0 / /mnt rw - ext3",
                           "36 35 98:0 / - ext3 a b", "- - - - - -"}) {
    EXPECT_TRUE(parse_mountinfo(text).empty()) << text;
  }
}

TEST(MountFacts, KeepsWhatHoldsData) {
  const FactList facts = mount_facts(
      "1 1 0:1 / / ro - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d,xino=off\n"
      "2 1 0:2 / /dev/shm rw - tmpfs tmpfs rw,size=1k\n"
      "3 1 0:3 / /run/lock rw - tmpfs tmpfs rw\n"
      "4 1 0:4 / /runs rw - tmpfs tmpfs rw\n"
      "5 1 0:5 / /var/lib/docker/x rw - overlay overlay rw\n"
      "6 1 0:6 / /sys/fs/bpf rw - bpf bpf rw\n"
      "7 1 0:7 / /snap/core/1 ro - squashfs /dev/loop0 ro\n"
      "8 1 0:8 / /home rw - ext4 /dev/sda1 rw\n"
      "9 1 0:9 / /home rw,nosuid - nfs4 server:/home rw,vers=4.2\n");
  ASSERT_EQ(facts.entries.size(), 4u);
  EXPECT_EQ(facts.entries[0].at("options"), "ro,xino=off");
  EXPECT_EQ(facts.entries[1].at("mount_point"), "/dev/shm");
  EXPECT_EQ(facts.entries[2].at("mount_point"), "/runs");
  EXPECT_EQ(facts.entries[3].at("fs_type"), "nfs4");
  EXPECT_EQ(facts.entries[3].at("options"), "rw,nosuid,vers=4.2");
}

TEST(MountFacts, HidesSecrets) {
  const FactList facts = mount_facts(
      "1 1 0:1 / /a rw - cifs //server/x rw,username=me,password=hunter2,secretfile=hunter2\n"
      "2 1 0:2 / /b rw - davfs https://me:hunter2@host/p@th rw\n"
      "3 1 0:3 / /c rw - nfs4 https://host/p@th rw\n");
  EXPECT_EQ(facts.entries[0].at("options"), "rw,username=me,password=…,secretfile=…");
  EXPECT_EQ(facts.entries[1].at("source"), "https://…@host/p@th");
  EXPECT_EQ(facts.entries[2].at("source"), "https://host/p@th");
}

TEST(MountFacts, CountsWhatIsBeyondTheLimit) {
  std::string text;
  for (int i = 0; i < 70; ++i) {
    text += "1 1 0:1 / /mnt" + std::to_string(i) + " rw - xfs /dev/sda rw\n";
  }
  const FactList facts = mount_facts(text);
  EXPECT_EQ(facts.entries.size(), kMaxMounts);
  EXPECT_EQ(facts.left_off, 70 - kMaxMounts);
}

TEST(CgroupLimits, Version1WithNestedGroups) {
  const Machine machine;
  machine.write("/proc/self/cgroup", "5:memory:/job/step\n4:cpu,cpuacct:/job/step\n0::/job/step\n");
  machine.write("/proc/self/mountinfo",
                "1 1 0:1 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                "2 1 0:2 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                "3 1 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1\n");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  machine.write("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4294967296\n");
  const CgroupLimits limits = cgroup_limits(machine.files());
  EXPECT_EQ(limits.cpu_quota_cores, 0.5);
  EXPECT_EQ(limits.memory_bytes, 4294967296);
}

// The part of the hierarchy that a container sees: what is mounted, where the process is, which
// folder holds its quota.
TEST(CgroupLimits, Version2InContainers) {
  struct Case {
    const char* group;
    const char* mount_root;
    const char* folder;
    std::optional<double> cores;
  };
  const Case table[] = {
      {"/a/b", "/", "/cg/a/b", 1.5},
      {"/a/b", "/", "/cg/a", 1.5},
      {"/", "/", "/cg", 1.5},
      {"/docker/1/inner", "/docker/1", "/cg/inner", 1.5},
      {"/docker/1", "/docker/1", "/cg", 1.5},
      {"/", "/../..", "/cg", 1.5},
      {"/job", "/../..", "/cg", 1.5},
      {"/elsewhere", "/docker/1", "/cg", std::nullopt},
      {"/job", "/../x", "/cg/job", std::nullopt},
      {"/a/b", "/", "/cg/a/other", std::nullopt},
      {"/../other", "/", "/cg", std::nullopt},
      {"/../../etc", "/", "/etc", std::nullopt},
  };
  for (const Case& row : table) {
    const Machine machine;
    machine.write("/proc/self/cgroup", std::string("0::") + row.group + "\n");
    machine.write("/proc/self/mountinfo",
                  std::string("1 1 0:1 ") + row.mount_root + " /cg rw - cgroup2 cgroup2 rw\n");
    machine.write(std::string(row.folder) + "/cpu.max", "150000 100000\n");
    EXPECT_EQ(cgroup_limits(machine.files()).cpu_quota_cores, row.cores)
        << row.group << " in " << row.mount_root << ", quota in " << row.folder;
  }
}

TEST(CgroupLimits, IgnoresValuesThatAreNoLimit) {
  for (const char* text :
       {"max 100000", "", "100000", "100000 0", "-1 100000", "0 100000", "a b"}) {
    const Machine machine;
    machine.write("/proc/self/cgroup", "0::/\n");
    machine.write("/proc/self/mountinfo", "1 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n");
    machine.write("/cg/cpu.max", text);
    machine.write("/cg/memory.max", "max\n");
    EXPECT_EQ(cgroup_limits(machine.files()).cpu_quota_cores, std::nullopt) << text;
    EXPECT_EQ(cgroup_limits(machine.files()).memory_bytes, std::nullopt);
  }
}

TEST(PciFacts, GpusOfEachKind) {
  const auto is_gpu = [](const char* vendor, const char* kind) {
    return !gpus_among({{{"address", "0000:00:00.0"}, {"vendor", vendor}, {"class", kind}}})
                .empty();
  };
  EXPECT_TRUE(is_gpu("0x10de", "0x030000"));
  EXPECT_TRUE(is_gpu("0x10de", "0x030200"));
  EXPECT_TRUE(is_gpu("0x1002", "0x038000"));
  EXPECT_TRUE(is_gpu("0x1002", "0x120000"));
  EXPECT_FALSE(is_gpu("0x10de", "0x040300"));  // the sound of a graphics card
  EXPECT_FALSE(is_gpu("0x10de", "0x068000"));  // NVSwitch
  EXPECT_FALSE(is_gpu("0x8086", "0x030000"));
  EXPECT_FALSE(is_gpu("0x1a03", "0x030000"));
}

TEST(NicFacts, HardwareComesBeforeWhatIsCutOff) {
  const Machine machine;
  for (std::size_t i = 0; i < kMaxNics; ++i) {
    machine.write("/sys/class/net/cali" + std::to_string(i) + "/mtu", "1500\n");
  }
  machine.write("/sys/class/net/eth0/device/numa_node", "-1\n");
  const FactList facts = nic_facts(machine.files());
  EXPECT_EQ(facts.left_off, 1u);
  EXPECT_EQ(facts.entries[0].at("name"), "eth0");
  EXPECT_EQ(facts.entries[0].at("numa_node"), Json());
}

TEST(LaunchWarnings, NameValueAndMend) {
  const std::vector<std::string> warnings = launch_warnings(eight_gpu_node());
  const std::vector<std::vector<std::string>> expected = {
      {"8 of the node's 16 CPUs (0-7)", "whole node"},
      {"quota of 4 cores", "8 CPUs", "cpu.max"},
      {"1008 GiB", "2016 GiB", "all of the memory"},
      {"powersave", "cpupower"},
      {"1024", "4096", "ulimit -n"},
  };
  ASSERT_EQ(warnings.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const std::string& part : expected[i]) {
      EXPECT_NE(warnings[i].find(part), std::string::npos) << part << " in: " << warnings[i];
    }
  }
}

TEST(LaunchWarnings, NoneWhereTheNodeIsWholeOrNothingIsKnown) {
  Json whole = eight_gpu_node();
  whole["cpu"]["cpuset_cpu_count"] = 16;
  whole["cpu"]["cpu_quota_cores"] = 16.0;
  whole["cpu"]["governors"] = {"performance"};
  whole["memory"]["memory_limit_bytes"] = whole["memory"]["total_bytes"];
  whole["limits"]["nofile"]["soft"] = "unlimited";
  EXPECT_TRUE(launch_warnings(whole).empty());
  for (const char* text : {"null", "[]", "3", "{}", R"({"cpu": [1], "limits": "none"})",
                           R"({"cpu": {"threads": "x", "cpuset_cpu_count": 1, "governors": 3}})"}) {
    EXPECT_TRUE(launch_warnings(Json::parse(text)).empty()) << text;
  }
}

TEST(Printable, ReplacesInsideAllStrings) {
  const Json value = {
      {"a", {"ok", "\xc3(", 1.5, nullptr}}, {"b", {{"c", "x\n\x7f"}}}, {"d", "a\u202eb\u009bc"}};
  EXPECT_EQ(printable(value), Json::parse(R"({"a": ["ok", "\ufffd(", 1.5, null],
                                              "b": {"c": "x  "}, "d": "a b c"})"));
}

TEST(SystemFacts, OsNameWithoutQuotesAndFromTheSecondPlace) {
  const Machine machine;
  machine.write("/usr/lib/os-release", "ID=x\nPRETTY_NAME=Plain\n");
  EXPECT_EQ(os_name(machine.files()), "Plain");
  machine.write("/etc/os-release", "ID=x\n");
  EXPECT_EQ(os_name(machine.files()), std::nullopt);
}

}  // namespace
}  // namespace fleetbench
