#include "harness/simulate/pair_spec.hpp"

#include <fmt/format.h>

#include "results-schema/check.hpp"

namespace fleetbench::simulation {
namespace {

void require(bool holds, std::string_view what, auto value, std::string_view wanted) {
  if (!holds) {
    throw InputError(fmt::format("{} {}: give {}", what, value, wanted));
  }
}

bool needs_leaves(const PairSpec& spec) {
  return spec.fault == PairFault::leaf || spec.fault == PairFault::uplink ||
         spec.blocks == PairBlocks::leaves;
}

}  // namespace

void check(const PairSpec& spec) {
  require(spec.nodes >= 4, "nodes", spec.nodes, "at least 4");
  require(spec.matchings >= 0 && spec.matchings < spec.nodes, "matchings", spec.matchings,
          "0 or more, and fewer than nodes");
  require(spec.rails >= 0, "rails", spec.rails, "0 or more");
  require(spec.passes >= 1, "passes", spec.passes, "at least 1");
  require(spec.noise > 0, "noise", spec.noise, "more than 0");
  require(spec.leaf_size >= 0 && spec.leaf_size < spec.nodes, "leaf size", spec.leaf_size,
          "0 or more, and fewer than nodes");
  require(!needs_leaves(spec) || spec.leaf_size > 0, "leaf size", spec.leaf_size,
          "nodes a leaf, for this needs leaves");
  require((spec.fault != PairFault::rail && spec.fault != PairFault::whole_rail) || spec.rails > 1,
          "rails", spec.rails, "at least 2, for one of them is slow");
}

std::string_view to_string(PairFault fault) {
  switch (fault) {
    case PairFault::node:
      return "node";
    case PairFault::rail:
      return "rail";
    case PairFault::whole_rail:
      return "whole-rail";
    case PairFault::link:
      return "link";
    case PairFault::leaf:
      return "leaf";
    case PairFault::uplink:
      return "uplink";
    case PairFault::two_nodes:
      return "two-nodes";
    case PairFault::none:
      return "none";
    case PairFault::failed:
      return "failed";
    case PairFault::disconnected:
      return "disconnected";
  }
  return "";
}

const std::vector<PairFault>& all_pair_faults() {
  static const std::vector<PairFault> all{
      PairFault::node,   PairFault::rail,        PairFault::whole_rail, PairFault::link,
      PairFault::leaf,   PairFault::uplink,      PairFault::two_nodes,  PairFault::none,
      PairFault::failed, PairFault::disconnected};
  return all;
}

}  // namespace fleetbench::simulation
