#include "probes/support/probe_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fleetbench {
namespace {

using testing::HasSubstr;

// What happens to it is written down, and it does what it is told.
struct Script {
  std::string invitation;
  std::function<void()> on_invitation = [] {};
  std::function<void()> on_measure = [] {};
  std::vector<std::string> heard;
};

class Scripted : public Prepared {
 public:
  explicit Scripted(Script& script) : script_(script) {}
  ~Scripted() override { script_.heard.emplace_back("freed"); }
  std::string invitation() override {
    script_.on_invitation();
    return script_.invitation;
  }
  void accept(const std::string& invitation) override {
    script_.heard.push_back("accepted " + invitation);
  }
  Measurement measure() override {
    script_.heard.emplace_back("measured");
    script_.on_measure();
    return {.values = {2.5}, .detail = {{"seen", true}}};
  }

 private:
  Script& script_;
};

class ScriptedProbe : public Probe {
 public:
  explicit ScriptedProbe(Script& script) : script_(script) {}
  ProbeInfo info() const override {
    return {.name = "scripted",
            .summary = "does as it is told",
            .params_schema = Json::object(),
            .joins_workers = true};
  }
  std::vector<MetricInfo> metrics(const Json& /*params*/) const override { return {}; }
  std::unique_ptr<Prepared> prepare(const Json& /*params*/, const Json& /*work*/) const override {
    return std::make_unique<Scripted>(script_);
  }

 private:
  Script& script_;
};

class ProbeServerTest : public testing::Test {
 protected:
  ProbeServerTest() { probes_.push_back(std::make_unique<ScriptedProbe>(script_)); }

  Json ask(const Json& command) { return server_.answer(command.dump()); }
  Json prepare() {
    return ask(
        {{"cmd", "prepare"}, {"probe", "scripted"}, {"params", Json::object()}, {"work", nullptr}});
  }

  Script script_;
  std::vector<std::unique_ptr<Probe>> probes_;
  ProbeServer server_{probes_};
};

TEST_F(ProbeServerTest, AnInvitationIsHandedOutAndAcceptedBeforeTheMeasurement) {
  script_.invitation = "c0ffee";
  EXPECT_EQ(prepare(), (Json{{"status", "ok"}, {"invitation", "c0ffee"}}));
  const Json answer = ask({{"cmd", "measure"}, {"invitation", "c0ffee"}});
  EXPECT_EQ(answer.at("status"), "ok");
  EXPECT_EQ(answer.at("values"), Json({2.5}));
  EXPECT_EQ(ask({{"cmd", "release"}}).at("status"), "ok");
  EXPECT_EQ(script_.heard, (std::vector<std::string>{"accepted c0ffee", "measured", "freed"}));
}

TEST_F(ProbeServerTest, WhoInvitesNobodySaysNothingOfIt) {
  EXPECT_EQ(prepare(), (Json{{"status", "ok"}}));
  EXPECT_EQ(ask({{"cmd", "measure"}}).at("status"), "ok");
  EXPECT_EQ(script_.heard, std::vector<std::string>{"measured"});
}

TEST_F(ProbeServerTest, WhoCannotInviteIsNotPrepared) {
  script_.on_invitation = [] { throw NotAvailable("no network"); };
  EXPECT_EQ(prepare(), (Json{{"status", "skipped"}, {"reason", "no network"}}));
  EXPECT_THAT(ask({{"cmd", "measure"}}).at("reason").get<std::string>(), HasSubstr("nothing is"));
  EXPECT_EQ(script_.heard, std::vector<std::string>{"freed"});
}

TEST_F(ProbeServerTest, AFalseInvitationIsAFailure) {
  prepare();
  const Json answer = ask({{"cmd", "measure"}, {"invitation", 7}});
  EXPECT_EQ(answer.at("status"), "failed");
  EXPECT_TRUE(script_.heard.empty());
}

TEST_F(ProbeServerTest, WhatIsKnownOfAFailureComesWithIt) {
  struct Case {
    std::function<void()> raise;
    const char* status;
    Json detail;
  };
  const Json known{{"phase", "all_reduce"}};
  const Case cases[] = {
      {[&] { throw WrongResult("x", known); }, "wrong", known},
      {[&] { throw TimedOut("x", known); }, "timeout", known},
      {[&] { throw NotAvailable("x", known); }, "skipped", known},
      {[&] { throw NoMeasurement("x", known); }, "failed", known},
      {[] { throw WrongResult("x"); }, "wrong", Json::object()},
      {[] { throw std::runtime_error("x"); }, "failed", Json::object()},
      {[] { throw std::bad_alloc(); }, "failed", Json::object()},
  };
  for (const Case& c : cases) {
    prepare();
    script_.on_measure = c.raise;
    const Json answer = ask({{"cmd", "measure"}});
    EXPECT_EQ(answer.at("status"), c.status);
    Json detail = answer.at("detail");
    EXPECT_TRUE(detail.at("evidence").contains("rises")) << answer;  // what was counted meanwhile
    detail.erase("evidence");
    EXPECT_EQ(detail, c.detail);
    EXPECT_FALSE(answer.at("reason").get<std::string>().empty());
  }
}

TEST_F(ProbeServerTest, TheCatalogTellsWhoJoins) {
  const auto info = ask({{"cmd", "catalog"}}).at("probes").at(0).get<ProbeInfo>();
  EXPECT_EQ(info.name, "scripted");
  EXPECT_TRUE(info.joins_workers);
}

}  // namespace
}  // namespace fleetbench
