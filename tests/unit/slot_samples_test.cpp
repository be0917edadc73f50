#include "harness/fleet/slot_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "tests/unit/heard.hpp"

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;

// One node whose rank 0 owns gpu0 to gpu2, in a step with one metric.
class SlotSamplesTest : public testing::Test {
 protected:
  SlotSamplesTest() {
    nodes_.resize(1);
    nodes_[0].name = "n0";
    nodes_[0].ranks = {0};
    step_.resize(1);
    step_[0].id = "gpu_gemm";
    step_[0].runner = plan::Runner::gpu_workers;
    step_[0].metrics.resize(1);
    for (int i = 0; i < 3; ++i) {
      owner_.gpus.push_back({"gpu" + std::to_string(i), "uuid", "address", 0});
    }
  }

  SlotState slot(int index) const {
    SlotState state;
    state.slot.index = index;
    state.slot.parties = {{0}};
    return state;
  }

  static Json answer_of(const std::vector<std::pair<std::string, std::string>>& devices) {
    Json answer{{"status", "ok"}, {"devices", Json::array()}};
    for (const auto& [device, status] : devices) {
      answer["devices"].push_back({{"device", device}, {"status", status}, {"values", {1.0}}});
    }
    return answer;
  }

  std::vector<std::string> samples() const {
    std::vector<std::string> texts;
    for (const Record& record : heard_.records) {
      if (const auto* sample = std::get_if<SampleRecord>(&record)) {
        texts.push_back(sample->device + " " + std::string(to_string(sample->status)));
      }
    }
    return texts;
  }

  std::vector<std::string> omissions() const {
    std::vector<std::string> texts;
    for (const Record& record : heard_.records) {
      if (const auto* omission = std::get_if<OmissionRecord>(&record)) {
        texts.push_back(omission->reason);
      }
    }
    return texts;
  }

  std::vector<NodeInfo> nodes_;
  std::vector<plan::PlannedStep> step_;
  Owner owner_;
  Heard heard_;
  Attendance attendance_{nodes_, heard_, heard_};
  SlotSamples samples_{1, step_, attendance_, heard_};
};

TEST_F(SlotSamplesTest, EachDeviceHasASampleOfItsOwn) {
  samples_.add(slot(0), owner_, answer_of({{"gpu0", "ok"}, {"gpu1", "wrong"}}));
  EXPECT_THAT(samples(), ElementsAre("gpu0 ok", "gpu1 wrong"));
  EXPECT_EQ(samples_.values_of_slot().size(), 2U);
}

TEST_F(SlotSamplesTest, WhoIsNotPreparedIsRecordedAndOwnedNoLonger) {
  samples_.add_failed_devices(slot(0), owner_, answer_of({{"gpu0", "ok"}, {"gpu2", "failed"}}));
  EXPECT_THAT(samples(), ElementsAre("gpu2 failed"));
  ASSERT_EQ(owner_.gpus.size(), 2U);
  EXPECT_EQ(owner_.gpus[1].label, "gpu1");
}

TEST_F(SlotSamplesTest, OfALateOwnerOnlyThoseThatOweAnAnswerAreLate) {
  samples_.add_timeout(slot(0), owner_, "late", {"gpu1"});
  EXPECT_THAT(samples(), ElementsAre("gpu1 timeout"));
  samples_.add_timeout(slot(1), owner_, "late", {});
  EXPECT_EQ(samples().size(), 4U);
}

TEST_F(SlotSamplesTest, ADeviceThatIsLateTooOftenIsLeftOutByItself) {
  samples_.add_timeout(slot(0), owner_, "late", {"gpu1"});
  EXPECT_FALSE(samples_.left_out(0, {0}, "gpu1"));
  samples_.add_timeout(slot(1), owner_, "late", {"gpu1"});
  EXPECT_TRUE(samples_.left_out(0, {0}, "gpu1"));
  EXPECT_FALSE(samples_.left_out(0, {0}, "gpu0"));
  EXPECT_FALSE(samples_.left_out(0, {0}));
  EXPECT_THAT(omissions(), ElementsAre("gpu1 left out after 2 time-outs"));
}

}  // namespace
}  // namespace fleetbench::fleet
