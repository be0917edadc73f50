// Teams of GPUs whose answers a test makes up.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/fleet/team_course.hpp"
#include "tests/unit/heard.hpp"

namespace fleetbench::fleet {

// Nodes of two GPUs each, owned by the rank of the node's number.
class TeamCourseTest : public testing::Test {
 protected:
  TeamCourseTest() {
    for (int node = 0; node < kNodes; ++node) {
      gpus_.push_back({{.label = "gpu0", .rank = node}, {.label = "gpu1", .rank = node}});
    }
    step_.resize(1);
    step_[0].id = "nccl";
    step_[0].runner = plan::Runner::gpu_workers;
    step_[0].probe.joins_workers = true;
    step_[0].metrics.resize(1);
  }

  static std::vector<NodeInfo> four_nodes() {
    std::vector<NodeInfo> nodes;
    for (int node = 0; node < kNodes; ++node) {
      nodes.push_back({.index = node,
                       .name = "n" + std::to_string(node),
                       .boot_id = "",
                       .ranks = {node},
                       .inventory = nullptr,
                       .cohort = ""});
    }
    return nodes;
  }

  // The teams of these parties begin.
  TeamCourse& begin(Participants participants, Across across, std::vector<plan::Party> parties) {
    step_[0].probe.participants = participants;
    step_[0].across = across;
    const plan::Slot slot{.parties = std::move(parties)};
    state_ = open_teams(slot, step_[0], plan::teams_of(slot, step_[0], gpus_));
    return course_.emplace(state_, step_[0], samples_, attendance_);
  }

  static Json answer(const std::vector<Json>& devices) {
    Json answer{{"status", "ok"}, {"s", 1.0}, {"devices", Json::array()}};
    for (std::size_t i = 0; i < devices.size(); ++i) {
      answer["devices"].push_back(devices[i]);
      answer["devices"].back()["device"] = "gpu" + std::to_string(i);
    }
    return answer;
  }

  static Json ok() { return {{"status", "ok"}, {"values", {1.0}}, {"invitation", "abc"}}; }
  static Json waited() {
    return {{"status", "timeout"},
            {"reason", "rank 1 waited"},
            {"detail", {{"phase", "init"}, {"calls_done", 0}}}};
  }
  static Json died() { return {{"status", "failed"}, {"reason", "signal 9"}}; }

  void all_are_prepared() {
    for (const auto& [rank, owner] : state_.owners) {
      course_->add(rank, answer({ok(), ok()}));
    }
    EXPECT_THAT(course_->end_preparation(), testing::IsEmpty());
  }

  std::vector<SampleRecord> recorded() const {
    std::vector<SampleRecord> samples;
    for (const Record& record : heard_.records) {
      if (const auto* sample = std::get_if<SampleRecord>(&record)) {
        samples.push_back(*sample);
      }
    }
    return samples;
  }

  std::vector<std::string> samples() const {
    std::vector<std::string> texts;
    for (const SampleRecord& sample : recorded()) {
      texts.push_back(nodes_[static_cast<std::size_t>(sample.node)].name + " " + sample.device +
                      " " + std::string(to_string(sample.status)));
    }
    return texts;
  }

  static constexpr int kNodes = 4;
  std::vector<NodeInfo> nodes_ = four_nodes();
  FleetGpus gpus_;
  std::vector<plan::PlannedStep> step_;
  Heard heard_;
  Attendance attendance_{nodes_, heard_, heard_};
  SlotSamples samples_{kNodes, step_, attendance_, heard_};
  SlotState state_;
  std::optional<TeamCourse> course_;
};

}  // namespace fleetbench::fleet
