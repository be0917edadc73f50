#include "harness/record/topology_file.hpp"

#include "harness/record/node_list.hpp"
#include "harness/record/topology_nodes.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const std::string text = text_of(data, size);
  std::vector<std::string> nodes;
  try {
    nodes = record::expand_node_list(text);
  } catch (const record::NodeListError&) {
    nodes = {"n1", "n2.lab"};
  }
  const auto file = record::read_topology({"topology", text});
  record::match_topology(file.topology, nodes);
  return 0;
}
