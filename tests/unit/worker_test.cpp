// The worker's parent against children that misbehave: each is a few lines of shell.
#include "harness/worker/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "harness/worker/child_process.hpp"

namespace fleetbench::worker {
namespace {

using testing::HasSubstr;

Worker shell(const std::string& script) {
  signal(SIGPIPE, SIG_IGN);
  return Worker({"/bin/sh", "-c", script});
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Worker, AnswersAreReadLineByLine) {
  auto worker = shell(R"(while read line; do echo '{"status":"ok","value":7}'; done)");
  for (int i = 0; i < 3; ++i) {
    const auto reply = worker.ask({{"cmd", "x"}}, 10);
    EXPECT_EQ(reply.status, Status::ok) << reply.reason;
    EXPECT_EQ(reply.body.at("value"), 7);
  }
}

TEST(Worker, AStatusThatIsNotOkComesWithItsReason) {
  auto worker = shell(R"(read line; echo '{"status":"wrong","reason":"bit 3"}'; read line)");
  const auto reply = worker.ask({{"cmd", "x"}}, 10);
  EXPECT_EQ(reply.status, Status::wrong);
  EXPECT_EQ(reply.reason, "bit 3");
}

TEST(Worker, OneThatCanMeasureNoMoreIsStartedAgain) {
  auto worker = shell(R"(read l; echo '{"status":"failed","reason":"sticky","spent":true}')");
  for (int i = 0; i < 2; ++i) {
    const auto reply = worker.ask({{"cmd", "x"}}, 10);
    EXPECT_EQ(reply.status, Status::failed);
    EXPECT_EQ(reply.reason, "sticky");
    EXPECT_FALSE(worker.running());
  }
}

struct Rubbish {
  const char* script;
  const char* reason;
};

TEST(Worker, RubbishIsAFailureThatShowsIt) {
  const Rubbish cases[] = {
      {"read l; echo hello", R"(wrote "hello" instead of an answer)"},
      {"read l; echo '[1]'; read l", R"(wrote "[1]" instead of an answer)"},
      {"read l; echo '{\"a\":1}'; read l", "instead of an answer"},
      {"read l; echo '{\"status\":\"fine\"}'; read l", R"(status "fine" is none of)"},
      {"read l; printf '\\377\\001\\n'; read l", "instead of an answer"},
      {"read l; echo '{\"status\":\"ok\"'; read l", "instead of an answer"},
      // Nested so deep that copying it would take more stack than there is.
      {"read l; printf '{\"status\":\"ok\",\"detail\":'; head -c 200000 /dev/zero | tr '\\0' '['; "
       "head -c 200000 /dev/zero | tr '\\0' ']'; echo '}'; read l",
       "instead of an answer"},
  };
  for (const auto& c : cases) {
    auto worker = shell(c.script);
    const auto reply = worker.ask({{"cmd", "x"}}, 10);
    EXPECT_EQ(reply.status, Status::failed) << c.script;
    EXPECT_THAT(reply.reason, HasSubstr(c.reason));
  }
}

TEST(Worker, DeathIsAFailureThatSaysHowAndWithWhichLastWords) {
  auto killed = shell("read l; echo goodbye >&2; kill -9 $$");
  const auto reply = killed.ask({{"cmd", "x"}}, 10);
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_THAT(reply.reason, HasSubstr("signal 9 (Killed)"));
  EXPECT_THAT(reply.reason, HasSubstr("its last words: goodbye"));
  auto gone = shell("exit 3");
  EXPECT_THAT(gone.ask({{"cmd", "x"}}, 10).reason, HasSubstr("exited with code 3"));
}

TEST(Worker, WordsOfAnEarlierCommandAreForgotten) {
  auto worker = shell(R"(read l; echo old >&2; echo '{"status":"ok"}'; read l; exec sleep 100)");
  EXPECT_EQ(worker.ask({{"cmd", "x"}}, 10).status, Status::ok);
  const auto reply = worker.ask({{"cmd", "x"}}, 0.2);
  EXPECT_EQ(reply.status, Status::timeout);
  EXPECT_EQ(reply.reason, "no answer within 0.2 s");
}

TEST(Worker, IsStartedAgainAfterItsDeath) {
  auto worker = shell(R"(read l; echo '{"status":"ok"}'; read l; exit 1)");
  EXPECT_EQ(worker.ask({{"cmd", "x"}}, 10).status, Status::ok);
  EXPECT_EQ(worker.ask({{"cmd", "x"}}, 10).status, Status::failed);
  EXPECT_EQ(worker.ask({{"cmd", "x"}}, 10).status, Status::ok);
}

TEST(Worker, OneThatDiesBetweenCommandsIsNamedThenReplaced) {
  auto worker = shell(R"(read l; echo '{"status":"ok"}'; kill -9 $$)");
  EXPECT_EQ(worker.ask({{"cmd", "prepare"}}, 10).status, Status::ok);
  usleep(100'000);
  const auto reply = worker.ask({{"cmd", "measure"}}, 10);
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_THAT(reply.reason, HasSubstr("signal 9 (Killed)"));
  EXPECT_EQ(worker.ask({{"cmd", "prepare"}}, 10).status, Status::ok);
}

TEST(Worker, OneThatHangsIsEndedWithAllThatItStarted) {
  // The grandchild ignores SIGTERM as the child does; both are in the group that SIGKILL ends.
  auto worker = shell(
      "trap '' TERM; read l; (trap '' TERM; echo $$ >&2; exec sleep 100) & echo $! >&2; sleep 100");
  Reply reply;
  const double took_s = seconds_of([&] { reply = worker.ask({{"cmd", "x"}}, 0.3); });
  EXPECT_EQ(reply.status, Status::timeout);
  EXPECT_THAT(reply.reason, HasSubstr("no answer within 0.3 s"));
  EXPECT_LT(took_s, 0.3 + kTermGrace_s + kKillGrace_s);
  const auto words = reply.reason.substr(reply.reason.find("last words: ") + 12);
  const pid_t grandchild = std::atoi(words.c_str());
  ASSERT_GT(grandchild, 1);
  for (int i = 0; i < 200 && kill(grandchild, 0) == 0; ++i) {
    usleep(10'000);
  }
  EXPECT_NE(kill(grandchild, 0), 0) << "what the worker started lives on";
}

TEST(Worker, SigtermIsEnoughForOneThatListens) {
  auto worker = shell("read l; sleep 100 & wait");
  EXPECT_LT(seconds_of([&] { worker.ask({{"cmd", "x"}}, 0.2); }), 0.2 + kTermGrace_s);
}

TEST(Worker, ACancelledCommandIsATimeoutWithTheGivenReason) {
  auto worker = shell("read l; sleep 100");
  worker.send({{"cmd", "x"}}, 100);
  EXPECT_FALSE(worker.poll());
  worker.cancel("the others are done");
  std::optional<Reply> reply;
  while (!(reply = worker.poll())) {
    usleep(1000);
  }
  EXPECT_EQ(reply->status, Status::timeout);
  EXPECT_EQ(reply->reason, "the others are done");
  EXPECT_FALSE(worker.busy());
}

TEST(Worker, AnExecutableThatIsMissingIsAFailureThatNamesIt) {
  Worker worker({"/no/such/worker"});
  const auto reply = worker.ask({{"cmd", "x"}}, 10);
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_THAT(reply.reason, HasSubstr("cannot start /no/such/worker"));
}

TEST(Worker, ClosingItsErrorsDoesNotKeepTheParentAwake) {
  auto worker = shell("exec 2>&-; read l; sleep 1; echo '{\"status\":\"ok\"}'; read l");
  const auto before = std::clock();
  EXPECT_EQ(worker.ask({{"cmd", "x"}}, 10).status, Status::ok);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.5);
}

TEST(ChildProcess, DoesNotInheritTheLaunchersVariables) {
  setenv("OMPI_TEST_VARIABLE", "1", 1);
  setenv("PMIX_RANK", "1", 1);
  setenv("FLEETBENCH_KEPT", "1", 1);
  const auto environment = environment_without_launcher();
  EXPECT_THAT(environment, testing::Contains("FLEETBENCH_KEPT=1"));
  EXPECT_THAT(environment, testing::Not(testing::Contains(testing::StartsWith("OMPI_"))));
  EXPECT_THAT(environment, testing::Not(testing::Contains(testing::StartsWith("PMIX_"))));
  unsetenv("OMPI_TEST_VARIABLE");
  unsetenv("PMIX_RANK");
}

std::string output_of(const std::string& script) {
  ChildProcess child({"/bin/sh", "-c", script});
  while (!child.reap()) {
    usleep(1000);
  }
  char buffer[4096];
  const ssize_t count = read(child.output(), buffer, sizeof buffer);
  return {buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

TEST(ChildProcess, MayRunOnEveryCpuWhateverItsParentIsBoundTo) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) {
    ++cpu;
  }
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto count = std::atoi(output_of("nproc").c_str());
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_GE(count, CPU_COUNT(&before));
  EXPECT_TRUE(CPU_EQUAL(&after, &one)) << "the parent's own affinity must be as before";
}

TEST(ChildProcess, InheritsNoOtherDescriptor) {
  std::ofstream open_file("/dev/null");
  EXPECT_EQ(output_of("ls /proc/self/fd | wc -l").substr(0, 1), "4")
      << "three streams and the listing's own";
}

}  // namespace
}  // namespace fleetbench::worker
