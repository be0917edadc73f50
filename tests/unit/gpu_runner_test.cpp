// A rank's GPUs against workers that misbehave: each is a few lines of shell, which stand in place
// of its GPU's UUID.
#include "harness/fleet/gpu_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFine = R"(while read l; do echo '{"status":"ok","values":[1.5]}'; done)";
constexpr const char* kHangs = "read l; exec sleep 100";
constexpr const char* kHangsAsItMeasures =
    R"(read l; echo '{"status":"ok"}'; read l; exec sleep 100)";
constexpr const char* kDies = "read l; kill -9 $$";
constexpr const char* kIsRefused =
    R"(while read l; do echo '{"status":"skipped","reason":"exclusive mode"}'; done)";

class GpuRunnerTest : public testing::Test {
 protected:
  GpuRunnerTest() { signal(SIGPIPE, SIG_IGN); }
  ~GpuRunnerTest() override { runner_.stop(); }

  // gpu0, gpu1, …, each with this worker.
  Order order_for(const std::vector<std::string>& scripts) {
    Order order{.probe = "p", .params = Json::object(), .work = Json::object(), .limit_s = 60};
    for (const auto& script : scripts) {
      const auto number = std::to_string(order.gpus.size());
      order.gpus.push_back({"gpu" + number, number + script});
    }
    return order;
  }

  Outcome outcome() {
    while (true) {
      if (auto outcome = runner_.poll()) {
        return std::move(*outcome);
      }
      usleep(1000);
    }
  }

  Outcome prepared(const std::vector<std::string>& scripts) {
    runner_.prepare(order_for(scripts));
    return outcome();
  }

  Outcome measured() {
    runner_.measure(60);
    return outcome();
  }

  static std::vector<std::string> of(const Outcome& outcome) {
    std::vector<std::string> texts;
    for (const Outcome& one : outcome.devices) {
      texts.push_back(one.device + " " + std::string(to_string(one.status)));
    }
    return texts;
  }

  int made_ = 0;
  GpuRunner runner_{[this](const std::string& uuid) {
    ++made_;
    return worker::Worker({"/bin/sh", "-c", uuid.substr(1)});
  }};
};

// All see the same ports.
TEST_F(GpuRunnerTest, OneOfThemReadsTheNetwork) {
  const std::string tells = R"(read l; echo '{"status":"ok"}'; read l; n=0
case "$l" in *'"network":true'*) n=1;; esac; echo '{"status":"ok","values":['$n']}'; read l)";
  prepared({kIsRefused, tells, tells});
  const Outcome all = measured();
  EXPECT_EQ(all.devices.at(0).measurement.values.at(0), 1);
  EXPECT_EQ(all.devices.at(1).measurement.values.at(0), 0);
}

TEST_F(GpuRunnerTest, EachDeviceHasAnOutcomeOfItsOwn) {
  EXPECT_THAT(of(prepared({kFine, kFine})), ElementsAre("gpu0 ok", "gpu1 ok"));
  const Outcome all = measured();
  EXPECT_EQ(all.status, Status::ok);
  ASSERT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 ok"));
  EXPECT_EQ(all.devices[1].measurement.values.at(0), 1.5);
}

TEST_F(GpuRunnerTest, OneThatFailsTakesNoPartInWhatFollows) {
  const Outcome first = prepared({kFine, kIsRefused, kDies});
  EXPECT_EQ(first.status, Status::ok);
  EXPECT_THAT(of(first), ElementsAre("gpu0 ok", "gpu1 skipped", "gpu2 failed"));
  EXPECT_EQ(first.devices[1].reason, "exclusive mode");
  EXPECT_THAT(first.devices[2].reason, HasSubstr("signal 9"));
  EXPECT_THAT(of(measured()), ElementsAre("gpu0 ok"));
}

TEST_F(GpuRunnerTest, WhereAllFailSoDoesTheNode) {
  EXPECT_EQ(prepared({kIsRefused, kDies}).status, Status::failed);
}

// A rank that a launcher shows one GPU only has no other to compare it with.
TEST_F(GpuRunnerTest, TheOnlyOneThatFailsAsItMeasuresIsAnOutcomeOfItsOwn) {
  prepared({R"(read l; echo '{"status":"ok"}'; read l; kill -9 $$)"});
  const Outcome all = measured();
  EXPECT_EQ(all.status, Status::failed);
  EXPECT_THAT(of(all), ElementsAre("gpu0 failed"));
}

TEST_F(GpuRunnerTest, WorkersLiveOnAndAreStartedAgainAfterTheirDeath) {
  prepared({kFine, kDies});
  measured();
  runner_.release();
  outcome();
  EXPECT_THAT(of(prepared({kFine, kDies})), ElementsAre("gpu0 ok", "gpu1 failed"));
  EXPECT_EQ(made_, 2);  // one for each GPU, which starts its process as often as it must
}

TEST_F(GpuRunnerTest, OneThatHangsIsATimeOutBeforeTheNodeIsGivenUp) {
  prepared({kFine, kFine, kHangsAsItMeasures});
  const auto start = std::chrono::steady_clock::now();
  const Outcome all = measured();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(all.status, Status::ok);
  ASSERT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 ok", "gpu2 timeout"));
  EXPECT_THAT(all.devices[2].reason, HasSubstr("other GPUs of the node took"));
}

TEST_F(GpuRunnerTest, WhereMostHangTheOthersAnswersStandWhenTheRootGivesUp) {
  prepared({kHangsAsItMeasures, kFine, kHangsAsItMeasures});
  runner_.measure(60);
  while (runner_.unanswered().size() > 2) {
    EXPECT_FALSE(runner_.poll());
    usleep(1000);
  }
  EXPECT_THAT(runner_.unanswered(), ElementsAre("gpu0", "gpu2"));
  runner_.cancel("late");
  const auto all = runner_.poll();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->status, Status::ok);
  EXPECT_THAT(of(*all), ElementsAre("gpu0 timeout", "gpu1 ok", "gpu2 timeout"));
}

TEST_F(GpuRunnerTest, AfterAHangTheNextSlotHasAWorkerAgain) {
  prepared({kFine, kFine, kHangs});
  const Outcome again = prepared({kFine, kFine, kHangs});
  EXPECT_THAT(of(again), ElementsAre("gpu0 ok", "gpu1 ok", "gpu2 timeout"));
}

TEST_F(GpuRunnerTest, ALookEndsItsWorker) {
  GpuRunner runner([](const std::string& uuid) {
    EXPECT_EQ(uuid, "");
    return worker::Worker(
        {"/bin/sh", "-c", R"(while read l; do echo '{"status":"ok","detail":{"gpus":[]}}'; done)"});
  });
  runner.look(60);
  std::optional<Outcome> seen;
  while (!seen) {
    seen = runner.poll();
    usleep(1000);
  }
  EXPECT_EQ(seen->status, Status::ok) << seen->reason;
  EXPECT_TRUE(seen->measurement.detail.contains("gpus"));
  EXPECT_TRUE(runner.ready());
}

TEST_F(GpuRunnerTest, WorkIsFoundOnTheFirstDevice) {
  const char* finds = R"(while read l; do echo '{"status":"ok","work":{"iterations":3}}'; done)";
  runner_.calibrate(order_for({finds, kDies}));
  const Outcome all = outcome();
  ASSERT_THAT(of(all), ElementsAre("gpu0 ok"));
  EXPECT_EQ(all.devices[0].body.at("work").at("iterations"), 3);
}

TEST_F(GpuRunnerTest, WhoFailsFastMakesNobodyLate) {
  constexpr const char* kSlow =
      R"(while read l; do sleep 5; echo '{"status":"ok","values":[1]}'; done)";
  const Outcome all = prepared({kIsRefused, kSlow});
  EXPECT_THAT(of(all), ElementsAre("gpu0 skipped", "gpu1 ok"));
}

// Seats of two teams: gpu0 and gpu1 of one, gpu2 of another one with GPUs of other nodes.
class TeamsTest : public GpuRunnerTest {
 protected:
  Outcome prepared_in_teams(const std::vector<std::string>& scripts) {
    Order order = order_for(scripts);
    order.teams = {{{"n0"}, {{"gpu0", "gpu1"}}}, {{"n0", "n1"}, {{"gpu2"}}}};
    order.gpus[1].index = 1;
    order.gpus[2].team = 1;
    runner_.prepare(order);
    return outcome();
  }

  Outcome measured_by(Invitations invitations) {
    runner_.invite(std::move(invitations));
    return measured();
  }
};

constexpr const char* kEchoes =
    R"(while read l; do echo "{\"status\":\"ok\",\"values\":[1],\"detail\":$l}"; done)";

TEST_F(TeamsTest, EachIsToldItsPlaceAndTheInvitation) {
  const Outcome first = prepared_in_teams({kEchoes, kEchoes, kEchoes});
  EXPECT_EQ(first.devices[1].measurement.detail["work"]["place"],
            Json::parse(R"({"index": 1, "ranks": [{"node": "n0", "device": "gpu0"},
                                                  {"node": "n0", "device": "gpu1"}]})"));
  EXPECT_EQ(first.devices[2].measurement.detail["work"]["place"]["ranks"][1]["node"], "n1");
  const Outcome all = measured_by({{"gpu0", "a"}, {"gpu1", "a"}});
  EXPECT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 ok"));
  EXPECT_EQ(all.devices[1].measurement.detail["invitation"], "a");
}

TEST_F(TeamsTest, TheOthersOfATeamHaveAWhileAfterOneOfItFailed) {
  prepared_in_teams(
      {kHangsAsItMeasures, R"(read l; echo '{"status":"ok"}'; read l; exit 1)",
       R"(read l; echo '{"status":"ok"}'; read l; sleep 8; echo '{"status":"ok","values":[1]}')"});
  const Outcome all = measured_by({{"gpu0", "a"}, {"gpu1", "a"}, {"gpu2", "b"}});
  EXPECT_THAT(of(all), ElementsAre("gpu0 timeout", "gpu1 failed", "gpu2 ok"));
  EXPECT_THAT(all.devices[0].reason, HasSubstr("after that of gpu1"));
}

TEST_F(TeamsTest, GpusOfATeamThatFailedAreGivenUpAndTheOthersGoOn) {
  const char* slow =
      R"(read l; echo '{"status":"ok"}'; read l; sleep 1; echo '{"status":"ok","values":[1]}')";
  prepared_in_teams({slow, slow, kHangsAsItMeasures});
  runner_.invite({{"gpu0", "a"}, {"gpu1", "a"}, {"gpu2", "b"}});
  runner_.measure(60);
  runner_.cancel_devices({"gpu2"}, "given up");
  EXPECT_FALSE(runner_.poll());
  const Outcome all = outcome();
  EXPECT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 ok", "gpu2 timeout"));
  EXPECT_THAT(all.devices[2].reason, HasSubstr("given up"));
}

TEST_F(TeamsTest, NobodyIsLateBecauseAnotherTeamIsFast) {
  const char* slow =
      R"(read l; echo '{"status":"ok"}'; read l; sleep 7; echo '{"status":"ok","values":[1]}')";
  prepared_in_teams({kFine, kFine, slow});
  const Outcome all = measured_by({{"gpu0", "a"}, {"gpu1", "a"}, {"gpu2", "b"}});
  EXPECT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 ok", "gpu2 ok"));
}

// One process measures all; its answer has a part for each.
class OneForAllTest : public GpuRunnerTest {
 protected:
  Outcome prepared_by(const std::string& script) {
    script_ = script;
    Order order = order_for({kFine, kFine});
    order.in_one_process = true;
    together_.prepare(order);
    return outcome_of_all();
  }

  Outcome outcome_of_all() {
    while (true) {
      if (auto outcome = together_.poll()) {
        return std::move(*outcome);
      }
      usleep(1000);
    }
  }

  std::string script_;
  GpuRunner together_{[this](const std::string& uuid) {
    return worker::Worker({"/bin/sh", "-c", uuid.empty() ? script_ : uuid.substr(1)});
  }};
};

TEST_F(OneForAllTest, EachDeviceHasItsPartOfTheAnswer) {
  Order order = order_for({});
  order.in_one_process = true;
  order.gpus = {{"gpu0", "a"}, {"gpu1", "b"}, {"gpu2", "c"}};
  script_ =
      R"(read l; echo '{"status":"ok"}'; read l; echo '{"status":"ok","detail":{"devices":[)"
      R"({"uuid":"a","status":"ok","values":[1.5]},{"uuid":"b","status":"wrong","reason":"bit"},7]}}'; read l)";
  together_.prepare(order);
  EXPECT_EQ(outcome_of_all().status, Status::ok);
  together_.measure(60);
  const Outcome all = outcome_of_all();
  EXPECT_THAT(of(all), ElementsAre("gpu0 ok", "gpu1 wrong", "gpu2 failed"));
  EXPECT_EQ(all.devices[0].measurement.values.at(0), 1.5);
  EXPECT_EQ(all.devices[1].reason, "bit");
}

TEST_F(OneForAllTest, WhoIsNotPreparedIsStoppedAtOnce) {
  const Outcome all = prepared_by(kIsRefused);
  EXPECT_EQ(all.status, Status::skipped);
  EXPECT_THAT(of(all), ElementsAre("gpu0 skipped", "gpu1 skipped"));
  EXPECT_TRUE(together_.descriptors().empty());  // of no process
}

TEST_F(OneForAllTest, WhereItHangsAllOweAnAnswer) {
  script_ = kHangs;
  Order order = order_for({kFine, kFine});
  order.in_one_process = true;
  together_.prepare(order);
  EXPECT_FALSE(together_.poll());
  EXPECT_THAT(together_.unanswered(), ElementsAre("gpu0", "gpu1"));
  together_.cancel("late");
  const auto all = together_.poll();
  ASSERT_TRUE(all);
  EXPECT_THAT(of(*all), ElementsAre("gpu0 timeout", "gpu1 timeout"));
  together_.prepare(order_for({kFine, kFine}));
  EXPECT_THAT(of(outcome_of_all()), ElementsAre("gpu0 ok", "gpu1 ok"));
}

}  // namespace
}  // namespace fleetbench::fleet
