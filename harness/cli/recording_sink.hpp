// Where the fleet's records go: to the disk, and what an inventory says of a node to the node.
#pragma once

#include <vector>

#include "harness/fleet/observers.hpp"
#include "harness/plan/slots.hpp"
#include "harness/record/recorder.hpp"

namespace fleetbench::cli {

class RecordingSink : public fleet::RecordSink {
 public:
  // `cuda`: by node, what CUDA says of its GPUs, which becomes a part of its inventory; null where
  // nobody asked.
  RecordingSink(record::Recorder& recorder, const std::vector<plan::PlannedStep>& steps,
                const std::vector<Json>& cuda)
      : recorder_(recorder), steps_(steps), cuda_(cuda) {}

  void add(const Record& record) override {
    const auto* sample = std::get_if<SampleRecord>(&record);
    if (sample == nullptr || !steps_[static_cast<std::size_t>(sample->step)].probe.facts_only ||
        sample->status != Status::ok) {
      recorder_.add(record);
      return;
    }
    auto facts = *sample;
    facts.detail.erase("resources");
    facts.detail.erase("evidence");
    const Json& cuda = cuda_.at(static_cast<std::size_t>(facts.node));
    if (!cuda.is_null()) {
      facts.detail["cuda"] = cuda;
    }
    recorder_.set_inventory(facts.node, std::move(facts.detail));
    facts.detail = nullptr;
    header_changed_ = true;
    recorder_.add(facts);
  }

  void sync() override {
    if (header_changed_) {
      recorder_.rewrite_header();
      header_changed_ = false;
    }
    recorder_.sync();
  }

 private:
  record::Recorder& recorder_;
  const std::vector<plan::PlannedStep>& steps_;
  const std::vector<Json>& cuda_;
  bool header_changed_ = false;
};

}  // namespace fleetbench::cli
