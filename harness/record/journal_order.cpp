#include "harness/record/journal_order.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace fleetbench::record {

void JournalOrder::admit(const Record& record) {
  if (std::holds_alternative<ResumeRecord>(record)) {
    *this = {};
    return;
  }
  if (end_) {
    admit_after_the_end(record);
  }
  if (const auto* sample = std::get_if<SampleRecord>(&record)) {
    admit_sample(*sample);
  } else if (const auto* end = std::get_if<EndRecord>(&record)) {
    end_ = *end;
  }
}

void JournalOrder::admit_after_the_end(const Record& record) {
  if (!end_->interrupted) {
    throw std::invalid_argument("t: comes after the end of the run");
  }
  const bool of_gate =
      std::holds_alternative<LossRecord>(record) || std::holds_alternative<EndRecord>(record);
  if (!of_gate) {
    *this = {};
  }
}

void JournalOrder::admit_sample(const SampleRecord& sample) {
  if (sample.slot != slot_) {
    if (!slots_.insert(sample.slot).second) {
      throw std::invalid_argument(fmt::format("slot: {} was over before", sample.slot));
    }
    slot_ = sample.slot;
    of_slot_.clear();
  }
  if (!of_slot_.insert({sample.step, sample.node, sample.device, sample.peer}).second) {
    throw std::invalid_argument(
        fmt::format("slot: {} has this sample of node {} already", sample.slot, sample.node));
  }
}

}  // namespace fleetbench::record
