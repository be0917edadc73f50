#include <gtest/gtest.h>

#include "harness/report/escape.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"

namespace fleetbench {
namespace {

TEST(Escape, LeavesReadableTextAndDisarmsTheRest) {
  struct Case {
    std::string text;
    const char* escaped;
  };
  const Case cases[] = {
      {"node-1.example", "node-1.example"},
      {"23 µs, größer, 節點", "23 µs, größer, 節點"},
      {"a\nb\tc", "a\\nb\\tc"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {std::string("nul\0!", 5), "nul\\x00!"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b", "\\xc2\\x9b"},  // C1: starts a terminal command
      {"\xe2\x80\xae"
       "evil",
       "\\xe2\\x80\\xaeevil"},              // writes right to left
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},  // line separator
      {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},  // no width: two names look alike
      {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},
      {"\xf3\xa0\x81\xa1", "\\xf3\\xa0\\x81\\xa1"},  // a tag, which nobody sees
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc3", "\\xc3"},                             // cut off
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(report::escaped(c.text), c.escaped);
  }
  EXPECT_EQ(report::columns("23 µs"), 5U);
}

TEST(ReportText, WhatAnotherProgramPrintsComesInPieces) {
  struct Case {
    std::vector<std::string> pieces;
    const char* shown;
  };
  const Case cases[] = {
      {{"a\tb\n", "c\r\n"}, "a\tb\nc\\x0d\n"},
      {{"\x1b", "[2J\n"}, "\\x1b[2J\n"},
      {{"K\xc3", "\xb6ln \xe2", "\x82", "\xac \xf0\x9f", "\x98\x80"},
       "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80"},
      {{"\xe2\x80", "\xae!"}, "\\xe2\\x80\\xae!"},
      {{"\xc3", "x\xff\x80"}, "\\xc3x\\xff\\x80"},
      {{"broken off: \xe2", "\x82"}, "broken off: \\xe2\\x82"},
      {{"", ""}, ""},
  };
  for (const Case& c : cases) {
    report::EscapedStream stream;
    std::string shown;
    for (const std::string& piece : c.pieces) {
      shown += stream.take(piece);
    }
    shown += stream.end();
    EXPECT_EQ(shown, c.shown);
  }
}

TEST(Escape, JsonMeansTheSameAndSteersNothing) {
  const Json document = {{"\xe2\x80\xae", "a\x1b\x7f\xc2\x9b\n"},
                         {"b", {"größer 節點", "\xf3\xa0\x81\xa1"}}};
  const std::string text = report::json_text(document, -1);
  EXPECT_EQ(text, R"({"b":["größer 節點","\udb40\udc61"],"\u202e":"a\u001b\u007f\u009b\n"})");
  EXPECT_EQ(Json::parse(text), document);
  EXPECT_EQ(Json::parse(report::json_text(document, 2)), document);
  EXPECT_EQ(report::json_text(Json("\xff"), -1), "\"\xef\xbf\xbd\"");
}

TEST(Escape, CutsBetweenCharacters) {
  EXPECT_EQ(report::first_columns("größer", 3), "grö");
  EXPECT_EQ(report::first_columns("節點", 1), "節");
  EXPECT_EQ(report::first_columns("ab", 2), "ab");
  EXPECT_EQ(report::first_columns("ab", 9), "ab");
  EXPECT_EQ(report::first_columns("", 9), "");
}

TEST(Units, AreThoseThatPeopleWrite) {
  struct Case {
    double value;
    const char* unit;
    const char* text;
  };
  for (const Case& c : {Case{168.2e9, "FLOP/s", "168 GFLOP/s"},
                        Case{947e6, "B/s", "947 MB/s"},
                        Case{23.14e-6, "s", "23.1 µs"},
                        Case{1.5e-3, "s", "1.50 ms"},
                        Case{75, "s", "75.0 s"},
                        Case{7200, "s", "7200 s"},
                        Case{999.96e6, "B/s", "1.00 GB/s"},
                        Case{0, "B/s", "0.00 B/s"},
                        Case{12400, "items/s", "12.4 k items/s"},
                        Case{3.5, "", "3.50"},
                        Case{2435.4, "ms", "2.44 s"},
                        Case{26.1, "GB/s", "26.1 GB/s"},
                        Case{84.1, "us", "84.1 µs"},
                        Case{1342, "MHz", "1.34 GHz"},
                        Case{251000, "GFLOPS", "251 TFLOPS"},
                        Case{12345, "MiB/s", "12.3 k MiB/s"},
                        Case{5, "min", "5.00 min"},
                        Case{2e-15, "s", "0.00 ps"},
                        Case{-5e6, "B", "-5.00 MB"},
                        Case{1, "a\nb", "1.00 a\\nb"}}) {
    EXPECT_EQ(report::in_unit(c.value, c.unit), c.text);
  }
  EXPECT_EQ(report::in_per_cent(0.34), "0.3 %");
  EXPECT_EQ(report::in_per_cent(12.3), "12 %");
}

TEST(Slowdowns, ReadAsAPersonWouldSayThem) {
  struct Case {
    double pct;
    const char* text;
  };
  for (const Case& c : {Case{7.34, "7.3 % slower than it"}, Case{23.4, "23 % slower than it"},
                        Case{99.7, "2.0 times as slow as it"}, Case{298, "4.0 times as slow as it"},
                        Case{1100, "12 times as slow as it"}, Case{-50, "2.0 times as fast as it"},
                        Case{-20, "1.25 times as fast as it"}, Case{0, "0.0 % slower than it"}}) {
    EXPECT_EQ(describe_slowdown(c.pct, "it"), c.text);
  }
  EXPECT_EQ(describe_slowdown(298), "4.0 times as slow");
  EXPECT_EQ(describe_interval(7.3, 6.1, 8.4), "[6.1 .. 8.4 %]");
  EXPECT_EQ(describe_interval(298, 290, 305), "[3.9 .. 4.0 times]");
  EXPECT_EQ(describe_interval(-50, -60, -40), "[1.7 .. 2.5 times]");
}

TEST(Layout, ParagraphsKeepToTheWidth) {
  const TextStyle narrow{false, 20};
  EXPECT_EQ(report::paragraph("- ", "one two three four five six", narrow),
            "- one two three four\n  five six\n");
  EXPECT_EQ(report::paragraph("", "averyveryverylongwordthatfitsnowhere and", narrow),
            "averyveryverylongwordthatfitsnowhere\nand\n");
  EXPECT_EQ(report::paragraph("mark", "", narrow), "mark\n");
  EXPECT_EQ(report::paragraph("", "two  spaces", TextStyle{false, 0}), "two\n\nspaces\n");
}

TEST(Layout, TablesAlignByCodePoints) {
  EXPECT_EQ(report::table({{"a", "1 µs", "x"}, {"bb", "10 s", ""}}, "  ", true),
            "  a   1 µs  x\n  bb  10 s\n");
}

TEST(Summary, NoLineEndsInASpaceAtAnyWidth) {
  Report report;
  report.verdict = Verdict::fail;
  report.verdict_reasons = {"a reason of several words that has to be broken somewhere ", ""};
  report.notes = {"a  note", " "};
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = "n";
  finding.evidence = {{"text ", ""}};
  finding.next_check = "look there ";
  report.findings = {finding};
  for (const int width : {0, 1, 20, 80, 200}) {
    const std::string text = summary_text(report, {false, width});
    EXPECT_EQ(text.find(" \n"), std::string::npos) << text;
    EXPECT_EQ(text.find("\n\n\n"), std::string::npos) << text;
  }
}

TEST(Summary, ColourIsAllThatColourChanges) {
  Report report;
  report.verdict = Verdict::warn;
  report.verdict_reasons = {"why"};
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = "n";
  report.findings = {finding};
  std::string coloured = summary_text(report, {true, 80});
  EXPECT_EQ(coloured.substr(0, 15), "\x1b[1;33mWARN\x1b[0m");
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos;
       at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, summary_text(report, {false, 80}));
}

TEST(Summary, APortThatCountsErrorsComputesNothingWrong) {
  Report report;
  Finding finding;
  finding.rank = 1;
  finding.subject.kind = "device";
  finding.subject.node = "node3";
  finding.subject.device = "mlx5_0:1";
  finding.direction = Direction::wrong;
  finding.layer = Layer::network;
  for (const auto& [status, text] :
       {std::pair(FindingStatus::tentative,
                  "node3 mlx5_0:1  network: errors are counted, tentative"),
        std::pair(FindingStatus::confirmed, "node3 mlx5_0:1  network: wrong results, confirmed")}) {
    finding.status = status;
    report.findings = {finding};
    EXPECT_NE(summary_text(report).find(text), std::string::npos) << summary_text(report);
  }
}

TEST(Summary, LongListsAreCut) {
  Report report;
  report.verdict_reasons.assign(9, "reason");
  report.notes.assign(50, "note");
  report.findings.resize(30);
  const std::string text = summary_text(report);
  EXPECT_NE(text.find("… and 4 more in report.json"), std::string::npos);
  EXPECT_NE(text.find("… and 30 more in report.json"), std::string::npos);
  EXPECT_NE(text.find("… and 10 more in report.json"), std::string::npos);
}

TEST(Summary, AnEmptyReportIsStillAReport) {
  EXPECT_EQ(summary_text(Report{}), "INCONCLUSIVE\non 0 nodes\n");
}

}  // namespace
}  // namespace fleetbench
