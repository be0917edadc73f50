// Logs of nccl-tests with their right reading beside them: tests/data/cases/nccl/NAME.expect.json.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/record/nccl_collective.hpp"
#include "harness/record/nccl_log.hpp"
#include "harness/record/nccl_tests.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kCases = fs::path(FLEETBENCH_SOURCE_DIR) / "tests/data/cases/nccl";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void check_figure(const NcclFigure& figure, const Json& expect) {
  EXPECT_EQ(figure.time_us, expect.at("time_us").get<double>());
  EXPECT_EQ(figure.algbw_GB_s, expect.at("algbw_GB_s").get<double>());
  EXPECT_EQ(figure.busbw_GB_s, expect.at("busbw_GB_s").get<double>());
  const Json& wrong = expect.contains("error") ? expect["error"] : expect.at("wrong");
  EXPECT_EQ(figure.wrong.has_value(), !wrong.is_null());
  if (!wrong.is_null()) {
    EXPECT_EQ(*figure.wrong, wrong.get<double>());
  }
}

void check_rows(const NcclRun& run, const Json& expect) {
  ASSERT_EQ(run.rows.size(), expect.size());
  for (std::size_t i = 0; i < expect.size(); ++i) {
    const NcclRow& row = run.rows[i];
    const Json& wanted = expect[i];
    EXPECT_EQ(row.line, wanted.at("line"));
    EXPECT_EQ(row.size_bytes, wanted.at("size_bytes").get<std::uint64_t>());
    EXPECT_EQ(row.count, wanted.at("count").get<std::uint64_t>());
    EXPECT_EQ(row.type, wanted.at("type"));
    EXPECT_EQ(row.redop, wanted.value("redop", ""));
    EXPECT_EQ(row.root.has_value(), wanted.contains("root"));
    EXPECT_EQ(row.root.value_or(-9), wanted.value("root", -9));
    check_figure(row.out_of_place, wanted.at("out_of_place"));
    check_figure(row.in_place, wanted.at("in_place"));
    EXPECT_EQ(run.counts_wrong, wanted["out_of_place"].contains("wrong"));
  }
}

void check_run(const NcclRun& run, const Json& expect) {
  EXPECT_EQ(run.collective, expect.at("collective").is_null() ? "" : expect["collective"]);
  if (expect.contains("collective_may_be")) {
    EXPECT_EQ(nccl_collective(run), expect["collective_may_be"]);
  }
  EXPECT_EQ(run.nranks(), expect.at("nranks"));
  std::set<std::string> nodes;
  for (const NcclRank& rank : run.ranks) {
    nodes.insert(rank.node);
  }
  EXPECT_EQ(Json(nodes), expect.at("nodes"));
  check_rows(run, expect.at("rows"));
  EXPECT_EQ(run.average_GB_s ? Json(*run.average_GB_s) : Json(), expect.at("avg_busbw_GB_s"));
  EXPECT_EQ(run.out_of_bounds ? Json(*run.out_of_bounds) : Json(), expect.at("out_of_bounds"));
  EXPECT_EQ(run.complete, expect.at("complete"));
  const std::string status = expect.value("status", "ok");
  EXPECT_EQ(run.has_failed(), status == "failed");
  EXPECT_EQ(run.is_wrong(), status == "wrong");
}

void check_ranks(const NcclRun& run, const Json& expect) {
  ASSERT_EQ(run.ranks.size(), expect.size());
  for (std::size_t i = 0; i < expect.size(); ++i) {
    EXPECT_EQ(run.ranks[i].rank, expect[i].at("rank"));
    EXPECT_EQ(run.ranks[i].node, expect[i].at("node"));
    EXPECT_EQ(run.ranks[i].device, expect[i].at("device"));
    EXPECT_EQ(run.ranks[i].pci, expect[i].at("pci"));
  }
}

void check_errors(std::vector<Problem> errors, const Json& expect) {
  for (const Json& one : expect) {
    const auto found = std::ranges::find_if(errors, [&](const Problem& problem) {
      return problem.line == one.at("line") && problem.kind == one.at("kind");
    });
    ASSERT_NE(found, errors.end()) << one;
    for (const char* key : {"node", "text_contains", "cause"}) {
      EXPECT_THAT(found->text(), HasSubstr(one.value(key, "")));
    }
    errors.erase(found);
  }
  for (const Problem& problem : errors) {
    ADD_FAILURE() << problem.kind << ": " << problem.text();
  }
}

// The links that have no value although they were tried.
Json missing_links(const RunData& run) {
  Json links = Json::array();
  for (const SampleRecord& sample : run.samples) {
    if (sample.status == Status::failed && sample.peer) {
      links.push_back({{"a", run.header.nodes.at(sample.node).name},
                       {"b", run.header.nodes.at(*sample.peer).name}});
    }
  }
  return links;
}

// Devices that all nodes have, and who has them.
Json rails_of(const RunData& run) {
  std::map<std::string, std::set<std::string>> rails;
  for (const SampleRecord& sample : run.samples) {
    for (const End& end : sample.ends) {
      rails[end.device].insert(run.header.nodes.at(end.node).name);
    }
  }
  return rails;
}

TEST(NcclCases, EveryCaseIsReadAsItShould) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    if (entry.path().extension() != ".txt") {
      continue;
    }
    SCOPED_TRACE(entry.path().filename().string());
    ++cases;
    const Json expect =
        Json::parse(read_file(kCases / (entry.path().stem().string() + ".expect.json")))
            .at("expect");
    const SourceText source{entry.path().filename().string(), read_file(entry.path())};
    EXPECT_TRUE(looks_like_nccl_tests(source.text));
    NcclProblems problems;
    const auto runs = read_nccl_log(source, 0, problems);
    ASSERT_EQ(runs.size(), expect.at("runs").size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      check_run(runs[i], expect["runs"][i]);
      if (expect.contains("ranks")) {
        check_ranks(runs[i], expect["ranks"]);
      }
    }
    const ImportedSamples result = read_nccl_tests({source});
    check_errors(result.errors, expect.at("errors"));
    EXPECT_TRUE(result.warnings.empty());
    EXPECT_EQ(missing_links(result.run), expect.value("missing", Json::array()));
    if (expect.contains("rails")) {
      EXPECT_EQ(rails_of(result.run), expect["rails"]);
    }
    EXPECT_EQ(runs.front().version, expect.value("nccl_version", runs.front().version));
  }
  EXPECT_EQ(cases, 7);
}

}  // namespace
}  // namespace fleetbench::record
