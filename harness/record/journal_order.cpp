#include "harness/record/journal_order.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace fleetbench::record {

void JournalOrder::admit(const Record& record) {
  if (std::holds_alternative<ResumeRecord>(record)) {
    *this = {};  // what is missing is measured, also of slots that were over
    return;
  }
  if (ended_) {
    throw std::invalid_argument("t: comes after the end of the run");
  }
  if (const auto* sample = std::get_if<SampleRecord>(&record)) {
    admit_sample(*sample);
  } else if (const auto* loss = std::get_if<LossRecord>(&record)) {
    if (!losses_.insert({loss->rank, loss->node}).second) {
      throw std::invalid_argument(
          fmt::format("rank: the same was lost before on node {}", loss->node));
    }
  }
  ended_ = std::holds_alternative<EndRecord>(record);
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
