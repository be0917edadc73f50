#include "harness/detect/path_check.hpp"

#include <fmt/format.h>

namespace fleetbench::detect {
namespace {

std::string check_of_rail(const Subject& subject) {
  if (!subject.node.empty()) {
    return fmt::format(
        "On {0}: the NIC nearest to {1} (`nvidia-smi topo -m`), its link (`ibstat`: rate and "
        "state), its PCIe width (`lspci -vv`: LnkSta), its error counters (`perfquery -x`, or "
        "`ethtool -S`); then swap its cable, or move it to another port of its switch.",
        subject.node, subject.rail);
  }
  return fmt::format(
      "What rail {} has in common{}: the switches and ports that its NICs use (`ibqueryerrors`, "
      "`iblinkinfo`, discards and port_xmit_wait of their uplinks), routing between them "
      "(`ibdiagnet`), and whether each GPU has its own NIC (`nvidia-smi topo -m`, NCCL_IB_HCA).",
      subject.rail, subject.nodes.empty() ? "" : " on these nodes");
}

}  // namespace

std::string path_check(const Subject& subject) {
  if (subject.kind == "switch") {
    return fmt::format(
        "Counters of {0}'s ports and uplinks: errors, discards, port_xmit_wait (`ibqueryerrors`, "
        "`perfquery -x`, or the switch's own), width and speed of its links (`iblinkinfo`), its "
        "fans and temperature, and how many of its uplinks are up. Then the same pairs with the "
        "fleet quiet: congestion passes, a bad link stays.",
        subject.switch_name);
  }
  if (subject.kind == "rail") {
    return check_of_rail(subject);
  }
  return fmt::format(
      "The path between {} and {} on rail {}: error counters and port_xmit_wait at both ends "
      "(`ibqueryerrors`, `perfquery -x`), the route that it takes (`ibtracert`), the cables on it. "
      "If other pairs over the same ports are well, it is the route.",
      subject.a, subject.b, subject.rail);
}

}  // namespace fleetbench::detect
