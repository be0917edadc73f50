#include "harness/fleet/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "harness/plan/deadline.hpp"

namespace fleetbench::fleet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Often enough for a person, seldom enough for a log.
constexpr double kWaitingNotice_s = 2;

std::string describe_lateness(double waited_s, std::vector<double> answered_s) {
  std::string text = fmt::format("no answer within {:.1f} s", waited_s);
  if (!answered_s.empty()) {
    const auto middle = answered_s.begin() + static_cast<long>(answered_s.size() / 2);
    std::nth_element(answered_s.begin(), middle, answered_s.end());
    text += fmt::format(", the others took {:.1f} s", *middle);
  }
  return text;
}

}  // namespace

struct Conversation::Round {
  std::set<int> pending;
  std::vector<double> answered_s;
  Clock::time_point start = Clock::now();
  Answers answers;
};

Answers Conversation::ask(const Question& question, std::vector<double>& history_s,
                          const std::function<void(const std::vector<int>&)>& waiting) {
  Round round;
  for (const auto& [rank, message] : question.messages) {
    round.pending.insert(rank);
    mailbox_.send(rank, message);
  }
  const int asked = static_cast<int>(round.pending.size());
  double next_notice_s = kWaitingNotice_s;
  while (!round.pending.empty()) {
    turn_(collect(question, round));
    const double now_s = seconds_since(round.start);
    if (now_s > plan::deadline_s(round.answered_s, asked, history_s, question.limit_s)) {
      break;
    }
    if (now_s > next_notice_s) {
      waiting({round.pending.begin(), round.pending.end()});
      next_notice_s += kWaitingNotice_s;
    }
  }
  if (!round.pending.empty()) {
    round.answers.lateness = describe_lateness(seconds_since(round.start), round.answered_s);
    cancel(question, round);
  }
  history_s.insert(history_s.end(), round.answered_s.begin(), round.answered_s.end());
  return std::move(round.answers);
}

// Takes in what has arrived. True where that was something.
bool Conversation::collect(const Question& question, Round& round) {
  bool news = false;
  while (auto envelope = mailbox_.receive()) {
    news = true;
    const Json& message = envelope->message;
    // An answer to an earlier question, given up by now, is dropped.
    if (message.value("slot", -2) != question.slot || !round.pending.contains(envelope->from)) {
      continue;
    }
    if (message.value("re", "") == question.re) {
      round.pending.erase(envelope->from);
      round.answered_s.push_back(seconds_since(round.start));
      round.answers.given[envelope->from] = std::move(envelope->message);
    } else if (message.value("re", "") == "cancel") {
      round.pending.erase(envelope->from);
      round.answers.late.push_back(envelope->from);
    }
  }
  return news;
}

void Conversation::cancel(const Question& question, Round& round) {
  for (const int rank : round.pending) {
    mailbox_.send(rank,
                  {{"do", "cancel"}, {"slot", question.slot}, {"reason", round.answers.lateness}});
  }
  const auto start = Clock::now();
  const auto answered_s = round.answered_s;
  while (!round.pending.empty() && seconds_since(start) < plan::kControl_s) {
    turn_(collect(question, round));
  }
  round.answered_s = answered_s;  // who answered only after all is no measure for others
  round.answers.lost.assign(round.pending.begin(), round.pending.end());
}

}  // namespace fleetbench::fleet
