#include "harness/fleet/conversation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "harness/plan/deadline.hpp"
#include "harness/plan/upper_median.hpp"

namespace fleetbench::fleet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Often enough for a person, seldom enough for a log.
constexpr double kWaitingNotice_s = 2;

std::string describe_lateness(double waited_s, const std::vector<double>& answered_s) {
  std::string text = fmt::format("no answer within {:.1f} s", waited_s);
  if (!answered_s.empty()) {
    text += fmt::format(", the others took {:.1f} s", plan::upper_median(answered_s));
  }
  return text;
}

}  // namespace

struct Conversation::Round {
  std::set<int> pending;
  std::vector<double> answered_s;
  Clock::time_point start = Clock::now();
  bool cancelling = false;
  Answers answers;
};

Answers Conversation::ask(const Question& question, std::vector<double>& history_s,
                          const Listener& listener) {
  Round round;
  for (const auto& [rank, message] : question.messages) {
    round.pending.insert(rank);
    mailbox_.send(rank, message);
  }
  const int asked = static_cast<int>(round.pending.size());
  double next_notice_s = kWaitingNotice_s;
  while (!round.pending.empty()) {
    turn_(collect(question, round, listener));
    const double now_s = seconds_since(round.start);
    if (now_s > plan::deadline_s(round.answered_s, asked, history_s, question.limit_s)) {
      break;
    }
    if (now_s > next_notice_s) {
      listener.waiting({round.pending.begin(), round.pending.end()});
      next_notice_s += kWaitingNotice_s;
    }
  }
  if (!round.pending.empty()) {
    round.answers.lateness = describe_lateness(seconds_since(round.start), round.answered_s);
    cancel(question, round, listener);
  }
  history_s.insert(history_s.end(), round.answered_s.begin(), round.answered_s.end());
  return std::move(round.answers);
}

// Takes in what has arrived. True where that was something.
bool Conversation::collect(const Question& question, Round& round, const Listener& listener) {
  bool news = false;
  while (auto envelope = mailbox_.receive()) {
    news = true;
    take(question, round, std::move(*envelope), listener);
  }
  return news;
}

void Conversation::take(const Question& question, Round& round, Envelope envelope,
                        const Listener& listener) {
  const Json& message = envelope.message;
  // An answer to an earlier question, given up by now, is dropped.
  if (message.value("slot", -2) != question.slot || !round.pending.contains(envelope.from)) {
    return;
  }
  const auto re = message.value("re", "");
  if (re == "cancel") {
    round.pending.erase(envelope.from);
    round.answers.late.push_back(envelope.from);
    round.answers.last_words[envelope.from] = message.value("last_words", "");
    return;
  }
  // What was measured counts however late it is; who was told to give up is prepared no longer.
  if (re != question.re || (round.cancelling && question.is_followed_up)) {
    return;
  }
  round.pending.erase(envelope.from);
  // A failure may come at once and tells nothing of how long the work takes.
  if (message.value("status", std::string(to_string(Status::ok))) == to_string(Status::ok)) {
    round.answered_s.push_back(seconds_since(round.start));
  }
  listener.answered(envelope.from, message);
  round.answers.given[envelope.from] = std::move(envelope.message);
}

void Conversation::cancel(const Question& question, Round& round, const Listener& listener) {
  for (const int rank : round.pending) {
    mailbox_.send(rank,
                  {{"do", "cancel"}, {"slot", question.slot}, {"reason", round.answers.lateness}});
  }
  const auto start = Clock::now();
  const auto answered_s = round.answered_s;
  round.cancelling = true;
  while (!round.pending.empty() && seconds_since(start) < plan::kControl_s) {
    turn_(collect(question, round, listener));
  }
  round.answered_s = answered_s;  // who answered only after all is no measure for others
  round.answers.lost.assign(round.pending.begin(), round.pending.end());
}

}  // namespace fleetbench::fleet
