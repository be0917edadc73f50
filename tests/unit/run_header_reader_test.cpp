#include "harness/record/run_header_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/record/inventory_spans.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"

namespace fleetbench::record {
namespace {

RunHeader header() {
  RunHeader header;
  header.run_id = "r";
  header.scenario = {{"nodes", {1, "}]"}}, {"inventory", {{"a", 1}}}};
  header.nodes = {
      {0, "a", "b0", {0}, Json{{"cpu", {{"cores", 8}, {"odd \"[{\\", "}\\"}}}, {"os", "x"}}},
      {1, "b", "b1", {1}, nullptr},
      {2, "c", "b2", {2, 3}, Json{{"cpu", {{"cores", 8}, {"odd \"[{\\", "}\\"}}}, {"os", "y"}}},
      {3, "d", "b3", {4}, Json::object(), "old"},
      {4, "e", "b4", {5}, Json("text")}};
  return header;
}

TEST(RunHeaderReader, ReadsWhatWasWritten) {
  for (const int indent : {-1, 0, 1, 4}) {
    const RunHeader back = read_run_header(to_json(header()).dump(indent), "run.json");
    EXPECT_EQ(to_json(back), to_json(header())) << indent;
    EXPECT_EQ(&back.nodes[0].inventory.part("cpu"), &back.nodes[2].inventory.part("cpu"));
    EXPECT_NE(&back.nodes[0].inventory.part("os"), &back.nodes[2].inventory.part("os"));
    EXPECT_TRUE(back.nodes[3].inventory.is_object());
    EXPECT_EQ(back.nodes[3].cohort, "old");
  }
}

TEST(RunHeaderReader, ReadsWhatTheRecorderWrites) {
  const TemporaryDirectory directory;
  RunHeader expected = header();
  expected.nodes.pop_back();
  Recorder recorder(RunDirectory::create(directory.path() / "run"), expected);
  recorder.set_inventory(1, {{"os", "x"}});
  recorder.rewrite_header();
  expected.nodes[1].inventory = Json{{"os", "x"}};
  EXPECT_EQ(to_json(load_run(recorder.directory()).header), to_json(expected));
  const auto text = read_whole(recorder.directory().run());
  EXPECT_EQ(check_against(Json::parse(text), schema_named("run")), std::vector<std::string>());
  EXPECT_EQ(to_json(recorder.run().header), to_json(expected));
}

// However the text is broken, what is said is what the parser of the whole says.
TEST(RunHeaderReader, SaysWhatIsWrong) {
  const std::string text = to_json(header()).dump();
  const auto said = [](const auto& read) {
    try {
      return to_json(read()).dump();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  const auto expect_same = [&](const std::string& broken) {
    EXPECT_EQ(said([&] { return read_run_header(broken, "run.json"); }), said([&] {
                try {
                  return run_header_from_json(parse_json(broken, "run.json"));
                } catch (const InputError&) {
                  throw;
                } catch (const std::exception& error) {
                  throw InputError(std::string("run.json: ") + error.what());
                }
              }))
        << broken;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    expect_same(text.substr(0, i));
    expect_same(text.substr(0, i) + text.substr(i + 1));
    for (const char other : {'"', '{', '}', ']', ',', ':', '0', '\\', '\n', '\xff'}) {
      std::string broken = text;
      broken[i] = other;
      expect_same(broken);
    }
  }
  EXPECT_THROW(read_run_header("", "run.json"), InputError);
}

}  // namespace
}  // namespace fleetbench::record
