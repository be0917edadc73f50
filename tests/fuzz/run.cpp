// run.json, a line of one '%', and the journal. Lines of it without a checksum get the right one,
// for no mutation finds that.
#include <string_view>

#include "harness/record/journal.hpp"
#include "harness/record/journal_order.hpp"
#include "harness/record/journal_reader.hpp"
#include "harness/record/run_header_reader.hpp"
#include "results-schema/check.hpp"
#include "tests/fuzz/seal_lines.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  constexpr std::string_view kBetween = "\n%\n";
  const std::string text = text_of(data, size);
  const std::size_t end = std::min(text.find(kBetween), text.size());
  RunData run;
  try {
    run.header = record::read_run_header(text.substr(0, end), "run.json");
  } catch (const InputError&) {
    return 0;
  }
  const std::string journal = with_seals(text.substr(std::min(end + kBetween.size(), text.size())));
  record::JournalOrder order;
  run.damage = record::read_journal(journal, "journal.jsonl", [&](Record&& record) {
    order.admit(record);
    add_record(run, std::move(record));
  });
  judge_and_report(run);
  return 0;
}
