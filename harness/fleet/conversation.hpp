// The root's side of the messages: asks ranks and waits for their answers as long as it is worth.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/fleet/mailbox.hpp"

namespace fleetbench::fleet {

// Made when it is sent: those for all ranks of a large fleet at once would fill the memory.
using MakeMessage = std::function<Json()>;

struct Question {
  int slot = -1;                        // an answer carries the slot of its question
  std::string re;                       // ... and what it answers: "prepare", "measure", "bye"
  std::map<int, MakeMessage> messages;  // by rank
  double limit_s = 0;
  // Whatever the answers, the wait ends here; who is late then is not to blame.
  double cut_s = std::numeric_limits<double>::infinity();
  bool is_patient = false;      // the limit alone says who is late, however fast others were
  bool is_followed_up = false;  // another question relies on the state that this one asks for
};

// Somebody who gave up when told to.
struct Late {
  std::string reason;                   // "no answer within 5.3 s, the others took 0.3 s"
  std::string last_words;               // empty where there were none
  std::vector<std::string> unanswered;  // of devices that it asked: those that owe it an answer
};

// Who is late by what others said.
struct Overdue {
  int rank = 0;
  std::vector<std::string> devices;  // for which it is; empty: for all that it was asked for

  bool operator==(const Overdue&) const = default;
};

struct Answers {
  std::map<int, Json> given;        // by rank
  std::map<int, Late> late;         // did not answer in time, but said that they gave up
  std::map<int, std::string> lost;  // did not even do that, or stopped: why they count as lost
  bool cut = false;                 // the late are so because the wait was cut short
};

// What is told while a question waits for its answers.
struct Listener {
  // Now and then: who is being waited for.
  std::function<void(const std::vector<int>& ranks)> waiting = [](const std::vector<int>&) {};
  // At once: an answer that is in, so that it counts also where the rest never comes.
  std::function<void(int rank, const Json& answer)> answered = [](int, const Json&) {};
  // A rank is lost. Returns who waits for it in vain, and is told to give up.
  std::function<std::vector<int>(int rank)> lost = [](int) { return std::vector<int>(); };
  // Again and again: who is late by what the others said, whatever the limit, and is told to give
  // up. Who is so for some devices is told of those, and goes on with the others.
  std::function<std::vector<Overdue>()> overdue = [] { return std::vector<Overdue>(); };
};

class Conversation {
 public:
  // `turn` does what else this process has to do and sleeps a little where there is nothing; it may
  // throw to break off the run. It is told whether the last turn brought news.
  Conversation(Mailbox& mailbox, std::function<void(bool news)> turn)
      : mailbox_(mailbox), turn_(std::move(turn)) {}

  // Asks all and returns when all have answered or the rest is late (plan/deadline.hpp). Those who
  // are late are told to give up, and have kControl_s to say that they did. Meanwhile they are
  // pinged: who is silent for kSilence_s is lost at once. `history_s` gains what the answers took.
  Answers ask(const Question& question, std::vector<double>& history_s, const Listener& listener);

  // Which of the ranks do not answer a ping within so many seconds.
  std::vector<int> silent(const std::vector<int>& ranks, double within_s);

  // How long this process itself stood still while it waited for answers: the longest time; the
  // last one where it was over only seconds ago, else 0.
  double longest_pause_s() const { return longest_pause_s_; }
  double pause_just_over_s() const;

  // Sends without expecting an answer.
  void tell(int rank, const Json& message) { mailbox_.send(rank, message); }

  // The next message from any rank, or none; for the time before there are questions.
  std::optional<Envelope> next();
  void turn(bool news) { turn_(news); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Round;
  bool collect(const Question& question, Round& round, const Listener& listener);
  void take(const Question& question, Round& round, Envelope envelope, const Listener& listener);
  void stop(const Question& question, Round& round, int rank, const std::string& reason);
  void stop_devices(const Question& question, Round& round, const Overdue& overdue,
                    const std::string& reason);
  void stop_the_overdue(const Question& question, Round& round, const Listener& listener);
  void stop_the_late(const Question& question, Round& round, const std::vector<double>& history_s);
  // Whether this process itself has just stood still: nobody is judged by that time.
  bool has_paused();
  void give_up_on_the_stopped(const Question& question, Round& round, const Listener& listener);
  void lose(const Question& question, Round& round, const Listener& listener, int rank,
            const std::string& reason);
  void lose_the_silent(const Question& question, Round& round, const Listener& listener);
  void ping(Round& round);

  Mailbox& mailbox_;
  std::function<void(bool)> turn_;
  std::map<int, Clock::time_point> heard_;  // when a rank last said anything
  Clock::time_point last_turn_ = Clock::now();
  Clock::time_point awake_;  // since when this process runs without a pause
  double pause_s_ = 0;       // how long the pause took that ended then
  double longest_pause_s_ = 0;
};

}  // namespace fleetbench::fleet
