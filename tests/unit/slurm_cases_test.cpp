// Node lists and topologies of Slurm with their right reading beside them: tests/data/cases/slurm.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/record/node_list.hpp"
#include "harness/record/topology_file.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kCases = fs::path(FLEETBENCH_SOURCE_DIR) / "tests/data/cases/slurm";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Json expect_of(const std::string& name) {
  return Json::parse(read_file(kCases / (name + ".expect.json"))).at("expect");
}

TEST(SlurmCases, NodeListsAreExpanded) {
  const Json expect = expect_of("nodelists");
  std::istringstream lines(read_file(kCases / "nodelists.txt"));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    EXPECT_EQ(Json(expand_node_list(line)), expect["lists"].at(number).at("nodes")) << line;
  }
  EXPECT_EQ(number, expect["lists"].size());
  // Who is named twice is for the reader of the list to say: it is there twice.
  const auto twice = expand_node_list("n[1-3],n2");
  EXPECT_EQ(std::ranges::count(twice, expect["warnings"][0]["node"].get<std::string>()), 2);
}

void check_error(std::vector<Problem>& errors, const Json& expect) {
  const auto found = std::ranges::find_if(errors, [&](const Problem& problem) {
    return problem.kind == expect.at("kind") &&
           (problem.line == expect.at("line") || problem.line == expect.value("line_may_be", 0));
  });
  ASSERT_NE(found, errors.end()) << expect;
  for (const char* key : {"node", "switch", "key", "text"}) {
    EXPECT_THAT(found->text(), HasSubstr(expect.value(key, "")));
  }
  for (const Json& name : expect.value("switches", Json::array())) {
    EXPECT_THAT(found->text(), HasSubstr(name.get<std::string>()));
  }
  errors.erase(found);
}

Json leaves_of(const Topology& topology) {
  Json leaves = Json::object();
  for (const Switch& one : topology.switches) {
    if (!one.nodes.empty()) {
      leaves[one.name] = one.nodes;
    }
  }
  return leaves;
}

Json parents_of(const Topology& topology) {
  std::map<std::string, std::set<std::string>> parents;
  for (const Switch& one : topology.switches) {
    for (const std::string& child : one.switches) {
      parents[child].insert(one.name);
    }
  }
  return parents;
}

TEST(SlurmCases, TopologiesAreReadAsTheyShould) {
  for (const char* name : {"tree_quirks", "topology_errors"}) {
    SCOPED_TRACE(name);
    const Json expect = expect_of(name);
    const std::string file = std::string(name) + ".conf";
    const TopologyFile read = read_topology({file, read_file(kCases / file)});
    std::vector<Problem> errors = read.errors;
    for (const Json& error : expect.at("errors")) {
      check_error(errors, error);
    }
    for (const Problem& problem : errors) {
      ADD_FAILURE() << problem.kind << ": " << problem.text();
    }
    const Json leaves = leaves_of(read.topology);
    for (const auto& [leaf, nodes] : expect.at("leaves").items()) {
      EXPECT_EQ(leaves.value(leaf, Json()), nodes);
    }
    if (expect.contains("parents")) {
      EXPECT_EQ(leaves, expect["leaves"]);
      EXPECT_EQ(parents_of(read.topology), expect["parents"]);
      EXPECT_EQ(Json(read.levels), expect["levels"]);
      for (const auto& [one, speed] : expect.at("link_speed").items()) {
        EXPECT_EQ(read.link_speed.at(one), speed.dump());
      }
      EXPECT_EQ(read.link_speed.size(), expect["link_speed"].size());
    }
  }
}

}  // namespace
}  // namespace fleetbench::record
