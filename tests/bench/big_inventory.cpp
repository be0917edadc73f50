#include "tests/bench/big_inventory.hpp"

#include <fmt/format.h>

namespace fleetbench::bench {
namespace {

constexpr int kGpus = 8;
constexpr int kNics = 10;
constexpr int kDisks = 8;
constexpr int kBridges = 48;
constexpr int kUncore = 40;

// True for one node in `of`, others for each `salt`.
bool is_odd(int node, int of, int salt) { return (node + salt) % of == of / 2; }

std::string address(int kind, int index) {
  return fmt::format("0000:{:02x}:{:02x}.0", kind, index);
}

Json pci_device(const std::string& at, const char* kind, const char* vendor, const char* device,
                const char* driver, int width, double speed) {
  return {{"address", at},
          {"class", kind},
          {"vendor", vendor},
          {"device", device},
          {"driver", driver},
          {"numa_node", at[5] < '8' ? 0 : 1},
          {"current_link_width", width},
          {"max_link_width", width},
          {"current_link_speed_gt_per_s", speed},
          {"max_link_speed_gt_per_s", speed}};
}

Json pci(int node) {
  Json list = Json::array();
  for (int i = 0; i < kBridges; ++i) {
    list.push_back(
        pci_device(address(0x10, i), "0x060400", "0x1000", "0xc030", "pcieport", 16, 32));
  }
  for (int i = 0; i < kUncore; ++i) {
    list.push_back({{"address", address(0x7e, i)},
                    {"class", "0x088000"},
                    {"vendor", "0x8086"},
                    {"device", fmt::format("0x32{:02x}", i)},
                    {"numa_node", 0}});
  }
  for (int i = 0; i < kGpus; ++i) {
    list.push_back(pci_device(address(0x20, i), "0x030200", "0x10de", "0x2330", "nvidia", 16, 32));
    if (i == 3 && is_odd(node, 1000, 7)) {
      list.back()["current_link_width"] = 8;
    }
  }
  for (int i = 0; i < kNics; ++i) {
    list.push_back(
        pci_device(address(0x40, i), "0x020700", "0x15b3", "0x1021", "mlx5_core", 16, 32));
  }
  for (int i = 0; i < kDisks; ++i) {
    list.push_back(pci_device(address(0x60, i), "0x010802", "0x144d", "0xa824", "nvme", 4, 16));
  }
  return list;
}

Json gpus() {
  Json list = Json::array();
  for (int i = 0; i < kGpus; ++i) {
    list.push_back({{"address", address(0x20, i)}, {"vendor", "0x10de"}, {"device", "0x2330"}});
  }
  return list;
}

Json nics(int node) {
  Json list = Json::array();
  for (int i = 0; i < kNics; ++i) {
    list.push_back({{"name", fmt::format("ibs{}", i)},
                    {"virtual", false},
                    {"speed_mbit", 400000},
                    {"duplex", "full"},
                    {"mtu", i == 2 && is_odd(node, 1000, 1) ? 2044 : 4092},
                    {"operstate", "up"},
                    {"mac", fmt::format("00:00:10:49:{:04x}:{:02x}", node, i)},
                    {"driver", "mlx5_core"},
                    {"pci_address", address(0x40, i)},
                    {"numa_node", i < 5 ? 0 : 1}});
  }
  return list;
}

Json infiniband_ports() {
  Json list = Json::array();
  for (int i = 0; i < kNics; ++i) {
    list.push_back({{"device", fmt::format("mlx5_{}", i)},
                    {"port", 1},
                    {"state", "ACTIVE"},
                    {"phys_state", "LinkUp"},
                    {"rate", "400 Gb/sec (4X NDR)"},
                    {"rate_gbit", 400.0},
                    {"link_layer", "InfiniBand"},
                    {"firmware", "28.39.2048"},
                    {"board", "MT_0000000838"},
                    {"pci_address", address(0x40, i)},
                    {"numa_node", i < 5 ? 0 : 1}});
  }
  return list;
}

Json disks(int node) {
  Json list = Json::array();
  for (int i = 0; i < kDisks; ++i) {
    list.push_back({{"name", fmt::format("nvme{}n1", i)},
                    {"model", "SAMSUNG MZWLO3T8HCLS-00A07"},
                    {"firmware", "OPPA4B5Q"},
                    {"serial", fmt::format("S6WX{:06}{}", node, i)},
                    {"size_bytes", 3840755982336},
                    {"rotational", false},
                    {"scheduler", "none"},
                    {"read_ahead_bytes", 131072},
                    {"pci_address", address(0x60, i)}});
  }
  return list;
}

Json cpu(int node) {
  return {{"model", "Intel(R) Xeon(R) Platinum 8480C"},
          {"microcode", "0x2b000603"},
          {"flags", {"avx", "avx2", "fma", "f16c", "avx512f", "avx512vl", "amx_tile", "amx_bf16"}},
          {"smt", true},
          {"sockets", 2},
          {"cores", 112},
          {"threads", 224},
          {"cpus_online", "0-223"},
          {"cpuset_cpus", "0-223"},
          {"cpuset_cpu_count", 224},
          {"cpu_quota_cores", nullptr},
          {"governors", {is_odd(node, 1000, 2) ? "powersave" : "performance"}},
          {"frequency_driver", "intel_pstate"},
          {"min_frequency_hz", 800000000},
          {"max_frequency_hz", 3800000000},
          {"base_frequency_hz", 2000000000},
          {"allowed_max_frequency_hz", 3800000000},
          {"boost", true}};
}

Json memory(int node) {
  const std::int64_t total = is_odd(node, 1000, 3) ? 2'095'944'040'448 : 2'164'237'795'328;
  return {{"total_bytes", total - 4096 * (node % 512)},
          {"available_bytes", total - 60'000'000'000 - 1'000'003LL * node},
          {"swap_total_bytes", 0},
          {"memory_limit_bytes", nullptr},
          {"huge_pages", {{{"page_bytes", 2097152}, {"total", 8}, {"free", node % 9}}}},
          {"transparent_huge_pages", "madvise"},
          {"transparent_huge_pages_defrag", "madvise"},
          {"numa_balancing", 0}};
}

Json numa(int node) {
  Json list = Json::array();
  for (int i = 0; i < 2; ++i) {
    list.push_back({{"node", i},
                    {"cpus", i == 0 ? "0-55,112-167" : "56-111,168-223"},
                    {"memory_total_bytes", 1'082'118'897'664},
                    {"memory_free_bytes", 1'000'000'000'000 - 777'777LL * node},
                    {"distances", {i == 0 ? 10 : 21, i == 0 ? 21 : 10}}});
  }
  return list;
}

Json mounts() {
  Json list = Json::array();
  for (const char* point : {"/", "/boot", "/home", "/data", "/scratch", "/dev/shm"}) {
    list.push_back({{"mount_point", point},
                    {"fs_type", "lustre"},
                    {"source", "10.0.0.1@o2ib:/scratch"},
                    {"options", "rw,relatime,flock"}});
  }
  return list;
}

Json machine(int node) {
  return {{"vendor", "Supermicro"},
          {"product", "SYS-821GE-TNHR"},
          {"board", "X13DEG-OAD"},
          {"bios_vendor", "American Megatrends International, LLC."},
          {"bios_version", is_odd(node, 50, 0) ? "2.0" : "2.1"},
          {"bios_date", "11/22/2023"},
          {"product_serial", fmt::format("A{:09}", node)},
          {"board_serial", fmt::format("B{:09}", node)}};
}

}  // namespace

Json big_inventory(int node) {
  return {{"hostname", fmt::format("gpu{:05}", node)},
          {"os", "Ubuntu 24.04.2 LTS"},
          {"machine", machine(node)},
          {"kernel",
           {{"release", "6.8.0-60-generic"},
            {"version", "#63-Ubuntu SMP PREEMPT_DYNAMIC"},
            {"boot_id", fmt::format("843d2e9e-2fd7-49d7-bb8d-{:012x}", node)},
            {"clocksource", "tsc"},
            {"options", {"mitigations=off", "iommu=pt"}},
            {"modules", {{"nvidia", "570.124.06"}, {"nvidia_peermem", "570.124.06"}}}}},
          {"cpu", cpu(node)},
          {"memory", memory(node)},
          {"numa", numa(node)},
          {"infiniband_ports", infiniband_ports()},
          {"limits", {{"nofile", {{"soft", 1048576}, {"hard", 1048576}}}}},
          {"nics", nics(node)},
          {"disks", disks(node)},
          {"mounts", mounts()},
          {"pci", pci(node)},
          {"gpus", gpus()},
          {"left_off", {{"nics", 0}, {"disks", 0}, {"mounts", 0}, {"pci", 0}}}};
}

}  // namespace fleetbench::bench
