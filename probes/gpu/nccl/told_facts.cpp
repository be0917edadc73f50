#include "probes/gpu/nccl/told_facts.hpp"

namespace fleetbench::gpu::nccl {
namespace {

constexpr std::size_t kLongest_bytes = 2048;

}  // namespace

void add_told_facts(Session& session, DebugLog& log, const MeasuredCalls& measured, Json& detail) {
  session.communicator.progress() = {.phase = "telling each other what NCCL says"};
  const Place& place = session.communicator.place();
  const auto owners = place.clock_owners();
  const auto told =
      session.exchange.each_text(to_text(log_facts(log.take()), measured), kLongest_bytes);
  std::vector<std::string> of_node;
  bool is_one_node = true;
  for (std::size_t rank = 0; rank < place.size(); ++rank) {
    is_one_node = is_one_node && owners[rank] == 0;
    if (owners[rank] == owners[place.index]) {
      of_node.push_back(told[rank]);
    }
  }
  Json facts = node_facts(of_node);
  const Json algorithms = facts.value("algorithms", Json::object());
  facts.erase("algorithms");
  detail["facts"]["nccl_version"] = shared_library().version();
  for (const auto& [key, value] : facts.items()) {
    detail["facts"]["nccl_" + key] = value;
  }
  for (const auto& [collective, text] : algorithms.items()) {
    if (is_one_node) {
      detail["facts"]["nccl_" + collective] = text;
    } else {
      detail["algorithms"][collective] = text;
    }
  }
  if (log.why_not()) {
    detail["not_measured"].push_back(
        {{"what", "transports and algorithms of NCCL"}, {"reason", *log.why_not()}});
  }
}

}  // namespace fleetbench::gpu::nccl
