#include "harness/record/csv_text.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fleetbench::record {
namespace {

using testing::ElementsAre;

// Each record as "LINE:field|field", a faulty one as "LINE:!".
std::vector<std::string> records_of(const std::string& text) {
  std::vector<std::string> records;
  for (CsvText csv(text); csv.next();) {
    std::string record = std::to_string(csv.line()) + ":";
    if (csv.fault() != CsvText::Fault::none) {
      records.push_back(record + (csv.fault() == CsvText::Fault::open_quote ? "open" : "stray"));
      continue;
    }
    for (std::size_t i = 0; i < csv.fields().size(); ++i) {
      record += (i == 0 ? "" : "|") + std::string(csv.fields()[i]);
    }
    records.push_back(record);
  }
  return records;
}

TEST(CsvText, FieldsAreSplitAsRfc4180Says) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"", {}},
      {"\n\n\r\n", {}},
      {"a,b", {"1:a|b"}},
      {"a,b\n", {"1:a|b"}},
      {"a,b\r\nc,d\r\n", {"1:a|b", "2:c|d"}},
      {"a,\n,b\n,\n", {"1:a|", "2:|b", "3:|"}},
      {"\n\na\n\nb", {"3:a", "5:b"}},
      {"\xEF\xBB\xBF\"a\",b", {"1:a|b"}},
      {R"("a,b","c ""d""",e)", {R"(1:a,b|c "d"|e)"}},
      {R"("","""")", {R"(1:|")"}},
      {"\"a\nb\",c\nd,e", {"1:a\nb|c", "3:d|e"}},
      {"\"a\r\nb\"\r\nc", {"1:a\r\nb", "3:c"}},
      {"a b, c \n", {"1:a b| c "}},
      {"a\rb,c\n", {"1:a\rb|c"}},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(records_of(text), expected) << text;
  }
}

TEST(CsvText, AFaultCostsItsFirstLineAndNoMore) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"a\"b,c\nd", {"1:stray", "2:d"}},
      {"\"a\"b,c\nd", {"1:stray", "2:d"}},
      {"\"a,b\nc\nd", {"1:open", "2:c", "3:d"}},
      {"a,\"", {"1:open"}},
      {"\"a\nb\"c\nd\n", {"1:stray", "2:stray", "3:d"}},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(records_of(text), expected) << text;
  }
}

TEST(CsvText, ManyOpenQuotesTakeNoLongerThanTheirLines) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "\"x\"\"\n";
  }
  EXPECT_GT(records_of(text).size(), 40'000U);
}

}  // namespace
}  // namespace fleetbench::record
