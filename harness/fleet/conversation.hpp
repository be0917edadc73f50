// The root's side of the messages: asks ranks and waits for their answers as long as it is worth.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/fleet/mailbox.hpp"

namespace fleetbench::fleet {

struct Question {
  int slot = -1;                 // an answer carries the slot of its question
  std::string re;                // ... and what it answers: "prepare", "measure", "bye"
  std::map<int, Json> messages;  // by rank
  double limit_s = 0;
  bool is_followed_up = false;  // another question relies on the state that this one asks for
};

struct Answers {
  std::map<int, Json> given;              // by rank
  std::vector<int> late;                  // did not answer in time, but said that they gave up
  std::vector<int> lost;                  // did not even do that
  std::map<int, std::string> last_words;  // of the late, where they had any
  std::string lateness;  // for reports: "no answer within 5.3 s, others took 0.3 s"
};

// What is told while a question waits for its answers.
struct Listener {
  // Now and then: who is being waited for.
  std::function<void(const std::vector<int>& ranks)> waiting = [](const std::vector<int>&) {};
  // At once: an answer that is in, so that it counts also where the rest never comes.
  std::function<void(int rank, const Json& answer)> answered = [](int, const Json&) {};
};

class Conversation {
 public:
  // `turn` does what else this process has to do and sleeps a little where there is nothing; it may
  // throw to break off the run. It is told whether the last turn brought news.
  Conversation(Mailbox& mailbox, std::function<void(bool news)> turn)
      : mailbox_(mailbox), turn_(std::move(turn)) {}

  // Asks all and returns when all have answered or the rest is late (plan/deadline.hpp). Those who
  // are late are told to give up, and have kControl_s to say that they did. `history_s` gains what
  // the answers took.
  Answers ask(const Question& question, std::vector<double>& history_s, const Listener& listener);

  // Sends without expecting an answer.
  void tell(int rank, const Json& message) { mailbox_.send(rank, message); }

  // The next message from any rank, or none; for the time before there are questions.
  std::optional<Envelope> next() { return mailbox_.receive(); }
  void turn(bool news) { turn_(news); }

 private:
  struct Round;
  bool collect(const Question& question, Round& round, const Listener& listener);
  void take(const Question& question, Round& round, Envelope envelope, const Listener& listener);
  void cancel(const Question& question, Round& round, const Listener& listener);

  Mailbox& mailbox_;
  std::function<void(bool)> turn_;
};

}  // namespace fleetbench::fleet
