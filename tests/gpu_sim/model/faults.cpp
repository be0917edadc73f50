#include "tests/gpu_sim/model/faults.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tests/gpu_sim/model/setting_text.hpp"

namespace gpu_sim {

namespace {

constexpr std::uint64_t kMostCount = std::numeric_limits<std::uint64_t>::max();

double factor(std::string_view text) { return number_of<double>(text, 0.001, 10); }

// "copy", or "copy@K": from the K-th on, the first where nothing is said.
std::pair<std::string_view, std::uint64_t> what_and_from(std::string_view text) {
  const auto parts = parts_of(text, '@', 2);
  return {parts[0], parts.size() < 2 ? 1 : number_of<std::uint64_t>(parts[1], 1, kMostCount)};
}

[[noreturn]] void none_of(std::string_view text, std::string_view known) {
  throw BadSetting("'" + std::string(text) + "' is none of " + std::string(known));
}

void set_throttle(Faults& faults, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kReasons{
      {{"sw_power", 0x4}, {"hw_slowdown", 0x8}, {"hw_thermal", 0x48}, {"hw_power_brake", 0x88}}};
  for (const auto& [name, bits] : kReasons) {
    if (text == name) {
      faults.clock_reasons |= bits;
      return;
    }
  }
  none_of(text, "sw_power, hw_slowdown, hw_thermal, hw_power_brake");
}

void set_peer(Faults& faults, std::string_view text) {
  const auto parts = parts_of(text, ':', 2);
  if (parts.size() != 2) {
    throw BadSetting("'" + std::string(text) + "' is not GPU:FACTOR");
  }
  faults.peer[number_of<int>(parts[0], 0, 15)] = factor(parts[1]);
}

void set_link(Faults& faults, std::string_view text) {
  const auto parts = parts_of(text, ':', 2);
  if (parts.size() != 2 || parts[0].empty()) {
    throw BadSetting("'" + std::string(text) + "' is not NODE:FACTOR");
  }
  faults.link[std::string(parts[0])] = factor(parts[1]);
}

void set_nic(Faults& faults, std::string_view text) {
  faults.nic_send = faults.nic_receive = factor(text);
}

void set_nccl_init(Faults& faults, std::string_view text) {
  if (text == "fail") {
    faults.nccl_init = Faults::Init::fails;
  } else if (text == "hang") {
    faults.nccl_init = Faults::Init::hangs;
  } else {
    none_of(text, "fail, hang");
  }
}

void set_nccl_call(std::map<std::string, std::uint64_t>& calls, std::string_view text) {
  constexpr std::array<std::string_view, 7> kFunctions{
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "send", "recv"};
  const auto [what, from] = what_and_from(text);
  if (std::find(kFunctions.begin(), kFunctions.end(), what) == kFunctions.end()) {
    none_of(what, "all_reduce, all_gather, reduce_scatter, broadcast, reduce, send, recv");
  }
  calls[std::string(what)] = from;
}

void set_wrong_bit(Faults& faults, std::string_view text) {
  const auto [what, from] = what_and_from(text);
  if (what == "gemm") {
    faults.wrong_gemm = from;
  } else if (what == "copy") {
    faults.wrong_copy = from;
  } else {
    none_of(what, "gemm, copy");
  }
}

void set_sticky(Faults& faults, std::string_view text) {
  const auto [what, from] = what_and_from(text);
  if (what != "launch") {
    none_of(what, "launch");
  }
  faults.sticky_launch = from;
}

void set_hang(Faults& faults, std::string_view text) {
  const auto [what, from] = what_and_from(text);
  if (what == "copy") {
    faults.hang_copy = from;
  } else if (what == "launch") {
    faults.hang_launch = from;
  } else {
    none_of(what, "copy, launch");
  }
}

void set_width(Faults& faults, std::string_view text) {
  faults.pcie_width = number_of<int>(text, 1, 16);
  if ((faults.pcie_width & (faults.pcie_width - 1)) != 0) {
    none_of(text, "1, 2, 4, 8, 16");
  }
}

void set_compute_mode(Faults& faults, std::string_view text) {
  if (text == "prohibited") {
    faults.compute_mode = ComputeMode::prohibited;
  } else if (text == "exclusive") {
    faults.compute_mode = ComputeMode::exclusive;
  } else {
    none_of(text, "prohibited, exclusive");
  }
}

void set_driver(Faults& faults, std::string_view text) {
  const auto parts = parts_of(text, '.', 2);
  if (parts.size() != 2) {
    throw BadSetting("'" + std::string(text) + "' is no version of CUDA as 12.2");
  }
  faults.driver_version =
      1000 * number_of<int>(parts[0], 1, 99) + 10 * number_of<int>(parts[1], 0, 9);
}

struct Key {
  std::string_view name;
  void (*set)(Faults&, std::string_view);
};

const std::array kKeys{
    Key{"sm_clock", [](Faults& f, std::string_view t) { f.sm_clock = factor(t); }},
    Key{"throttle", set_throttle},
    Key{"memory", [](Faults& f, std::string_view t) { f.memory = factor(t); }},
    Key{"h2d", [](Faults& f, std::string_view t) { f.h2d = factor(t); }},
    Key{"d2h", [](Faults& f, std::string_view t) { f.d2h = factor(t); }},
    Key{"pcie_width", set_width},
    Key{"pcie_gen",
        [](Faults& f, std::string_view t) { f.pcie_generation = number_of<int>(t, 1, 5); }},
    Key{"peer", set_peer},
    Key{"nvlinks_down",
        [](Faults& f, std::string_view t) { f.nvlinks_down = number_of<int>(t, 1, 18); }},
    Key{"nvlink", [](Faults& f, std::string_view t) { f.nvlink = factor(t); }},
    Key{"nic", set_nic},
    Key{"nic_send", [](Faults& f, std::string_view t) { f.nic_send = factor(t); }},
    Key{"nic_receive", [](Faults& f, std::string_view t) { f.nic_receive = factor(t); }},
    Key{"link", set_link},
    Key{"nccl_init", set_nccl_init},
    Key{"nccl_late",
        [](Faults& f, std::string_view t) { f.nccl_late_s = number_of<double>(t, 1e-9, 1000); }},
    Key{"nccl_wrong", [](Faults& f, std::string_view t) { set_nccl_call(f.nccl_wrong, t); }},
    Key{"nccl_hang", [](Faults& f, std::string_view t) { set_nccl_call(f.nccl_hang, t); }},
    Key{"nccl_refuse", [](Faults& f, std::string_view t) { set_nccl_call(f.nccl_refuse, t); }},
    Key{"wrong_bit", set_wrong_bit},
    Key{"ecc",
        [](Faults& f, std::string_view t) {
          f.uncorrected_errors = number_of<std::uint64_t>(t, 1, kMostCount);
        }},
    Key{"xid", [](Faults& f, std::string_view t) { f.xid = number_of<std::uint64_t>(t, 1, 999); }},
    Key{"sticky", set_sticky},
    Key{"oom",
        [](Faults& f, std::string_view t) {
          f.memory_bytes = number_of<std::size_t>(t, 1, std::size_t{1} << 40);
        }},
    Key{"hang", set_hang},
    Key{"compute_mode", set_compute_mode},
    Key{"driver", set_driver},
};

struct Flag {
  std::string_view name;
  bool Faults::*field;
};

constexpr std::array kFlags{
    Flag{"gone", &Faults::gone}, Flag{"mig", &Faults::mig}, Flag{"no_peers", &Faults::no_peers},
    Flag{"no_driver", &Faults::no_driver}, Flag{"no_libcuda", &Faults::no_libcuda}};

void set_fault(Faults& faults, std::string_view text) {
  for (const Flag& flag : kFlags) {
    if (text == flag.name) {
      faults.*flag.field = true;
      return;
    }
  }
  const auto parts = parts_of(text, '=', 2);
  for (const Key& key : kKeys) {
    if (parts[0] == key.name && parts.size() == 2) {
      key.set(faults, parts[1]);
      return;
    }
  }
  throw BadSetting("'" + std::string(text) + "' is no fault that this simulation knows");
}

}  // namespace

Faults faults_of(std::string_view rules, std::string_view node, int gpu, int gpus) {
  Faults faults;
  for (const std::string_view rule : parts_of(rules, ';')) {
    if (rule.empty()) {
      continue;
    }
    const auto parts = parts_of(rule, ':', 3);
    if (parts.size() != 3 || parts[0].empty()) {
      throw BadSetting("'" + std::string(rule) + "' is not NODE:GPU:FAULT,…");
    }
    const bool here = parts[0] == "*" || parts[0] == node;
    // GPUs that this node lacks cannot be meant; another node may have more.
    const int index = parts[1] == "*" ? gpu : number_of<int>(parts[1], 0, here ? gpus - 1 : 15);
    // Faults of other GPUs are read as well: a slip shall show on every node.
    Faults elsewhere;
    for (const std::string_view fault : parts_of(parts[2], ',')) {
      set_fault(here && index == gpu ? faults : elsewhere, fault);
    }
  }
  return faults;
}

}  // namespace gpu_sim
