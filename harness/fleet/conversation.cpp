#include "harness/fleet/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/plan/deadline.hpp"
#include "harness/plan/upper_median.hpp"

namespace fleetbench::fleet {
namespace {

// Often enough for a person, seldom enough for a log.
constexpr double kWaitingNotice_s = 2;
constexpr double kPingInterval_s = 2;
// A turn takes milliseconds. After a longer one (the process was stopped, its disk hung) it takes a
// while until what the others said meanwhile is in.
constexpr auto kPause = std::chrono::seconds(2);
constexpr auto kAwakening = std::chrono::seconds(2);
constexpr auto kJustOver = std::chrono::seconds(5);
// At the end of the run's time there is none left to wait for those who give up.
constexpr double kCutControl_s = 1;

std::string describe_lateness(double waited_s, const std::vector<double>& answered_s) {
  std::string text = fmt::format("no answer within {:.1f} s", waited_s);
  if (!answered_s.empty()) {
    text += fmt::format(", the others took {:.1f} s", plan::upper_median(answered_s));
  }
  return text;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

struct Conversation::Round {
  struct Stop {
    Clock::time_point at;
    std::string reason;
  };
  std::set<int> pending;
  std::map<int, Stop> stopped;                              // told to give up
  std::map<int, std::vector<std::string>> stopped_devices;  // ... these of their devices
  std::vector<double> answered_s;
  Clock::time_point start = Clock::now();
  double next_ping_s = kPingInterval_s;
  double next_notice_s = kWaitingNotice_s;
  Answers answers;
};

Answers Conversation::ask(const Question& question, std::vector<double>& history_s,
                          const Listener& listener) {
  Round round;
  for (const auto& [rank, message] : question.messages) {
    round.pending.insert(rank);
    mailbox_.send(rank, message());
  }
  last_turn_ = Clock::now();  // between questions this process has other things to do
  while (!round.pending.empty()) {
    try {
      turn_(collect(question, round, listener));
    } catch (...) {
      has_paused();
      throw;
    }
    const double now_s = seconds_since(round.start);
    if (has_paused()) {
      continue;
    }
    stop_the_late(question, round, history_s);
    stop_the_overdue(question, round, listener);
    if (now_s > round.next_ping_s) {
      lose_the_silent(question, round, listener);
      ping(round);
    }
    if (now_s > round.next_notice_s && !round.pending.empty()) {
      listener.waiting({round.pending.begin(), round.pending.end()});
      round.next_notice_s += kWaitingNotice_s;
    }
    give_up_on_the_stopped(question, round, listener);
  }
  history_s.insert(history_s.end(), round.answered_s.begin(), round.answered_s.end());
  return std::move(round.answers);
}

bool Conversation::has_paused() {
  const auto now = Clock::now();
  if (now - last_turn_ > kPause) {
    awake_ = now;
    pause_s_ = seconds_since(last_turn_);
    longest_pause_s_ = std::max(longest_pause_s_, pause_s_);
  }
  last_turn_ = now;
  return now - awake_ < kAwakening;
}

double Conversation::pause_just_over_s() const {
  return Clock::now() - awake_ < kJustOver ? pause_s_ : 0;
}

// Takes in what has arrived. True where that was something.
bool Conversation::collect(const Question& question, Round& round, const Listener& listener) {
  bool news = false;
  while (auto envelope = next()) {
    news = true;
    take(question, round, std::move(*envelope), listener);
  }
  return news;
}

void Conversation::take(const Question& question, Round& round, Envelope envelope,
                        const Listener& listener) {
  const Json& message = envelope.message;
  // An answer to an earlier question, given up by now, is dropped.
  if (!message.contains("slot") || message["slot"] != question.slot ||
      !round.pending.contains(envelope.from)) {
    return;
  }
  const auto re = message.value("re", "");
  const auto stopped = round.stopped.find(envelope.from);
  const bool is_stopped = stopped != round.stopped.end();
  if (re == "cancel" && is_stopped) {
    round.pending.erase(envelope.from);
    round.answers.late[envelope.from] = {stopped->second.reason, message.value("last_words", ""),
                                         message.value("unanswered", std::vector<std::string>())};
    return;
  }
  // What was measured counts however late it is; who was told to give up is prepared no longer.
  if (re != question.re || (is_stopped && question.is_followed_up)) {
    return;
  }
  round.pending.erase(envelope.from);
  // A failure may come at once and tells nothing of how long the work takes; nor does who answers
  // only after all, or after it was told to give up some devices.
  const bool ok =
      message.value("status", std::string(to_string(Status::ok))) == to_string(Status::ok);
  if (ok && !is_stopped && !round.stopped_devices.contains(envelope.from)) {
    round.answered_s.push_back(seconds_since(round.start));
  }
  listener.answered(envelope.from, message);
  round.answers.given[envelope.from] = std::move(envelope.message);
}

void Conversation::stop(const Question& question, Round& round, int rank,
                        const std::string& reason) {
  if (round.pending.contains(rank) && !round.stopped.contains(rank)) {
    mailbox_.send(rank, {{"do", "cancel"},
                         {"slot", question.slot},
                         {"reason", reason},
                         {"cut", round.answers.cut}});
    round.stopped[rank] = {Clock::now(), reason};
  }
}

void Conversation::stop_devices(const Question& question, Round& round, const Overdue& overdue,
                                const std::string& reason) {
  auto& told = round.stopped_devices[overdue.rank];
  if (told != overdue.devices) {
    told = overdue.devices;
    mailbox_.send(overdue.rank, {{"do", "cancel"},
                                 {"slot", question.slot},
                                 {"reason", reason},
                                 {"devices", overdue.devices}});
  }
}

void Conversation::stop_the_overdue(const Question& question, Round& round,
                                    const Listener& listener) {
  const std::string reason = "no answer, though those that measured with it have given up";
  for (const Overdue& overdue : listener.overdue()) {
    if (overdue.devices.empty()) {
      stop(question, round, overdue.rank, reason);
    } else if (round.pending.contains(overdue.rank) && !round.stopped.contains(overdue.rank)) {
      stop_devices(question, round, overdue, reason);
    }
  }
}

void Conversation::stop_the_late(const Question& question, Round& round,
                                 const std::vector<double>& history_s) {
  const double now_s = seconds_since(round.start);
  const int asked = static_cast<int>(question.messages.size());
  const double deadline_s =
      question.is_patient ? question.limit_s
                          : plan::deadline_s(round.answered_s, asked, history_s, question.limit_s);
  if (now_s <= std::min(deadline_s, question.cut_s)) {
    return;
  }
  round.answers.cut = round.answers.cut || question.cut_s < deadline_s;
  const auto reason = describe_lateness(now_s, round.answered_s);
  for (const int rank : round.pending) {
    stop(question, round, rank, reason);
  }
}

// Who was told to give up and does not even say that they did.
void Conversation::give_up_on_the_stopped(const Question& question, Round& round,
                                          const Listener& listener) {
  const double control_s = round.answers.cut ? kCutControl_s : plan::kControl_s;
  std::vector<int> overdue;
  for (const auto& [rank, told] : round.stopped) {
    if (round.pending.contains(rank) && seconds_since(told.at) > control_s) {
      overdue.push_back(rank);
    }
  }
  for (const int rank : overdue) {
    const auto reason = round.stopped.at(rank).reason;
    if (round.answers.cut) {
      round.pending.erase(rank);
      round.answers.late[rank] = {reason, "", {}};
    } else {
      lose(question, round, listener, rank, reason + ", nor to being told to give up");
    }
  }
}

void Conversation::lose(const Question& question, Round& round, const Listener& listener, int rank,
                        const std::string& reason) {
  round.pending.erase(rank);
  round.answers.lost[rank] = reason;
  for (const int other : listener.lost(rank)) {
    stop(question, round, other, "given up, for one that measured with it is lost");
  }
}

void Conversation::lose_the_silent(const Question& question, Round& round,
                                   const Listener& listener) {
  for (const int rank : std::set(round.pending)) {
    const auto since = std::max({round.start, heard_[rank], awake_});
    if (seconds_since(since) > plan::kSilence_s) {
      lose(question, round, listener, rank,
           fmt::format("not a word for {:.0f} s", seconds_since(since)));
    }
  }
}

void Conversation::ping(Round& round) {
  for (const int rank : round.pending) {
    mailbox_.send(rank, {{"do", "ping"}});
  }
  round.next_ping_s = seconds_since(round.start) + kPingInterval_s;
}

std::vector<int> Conversation::silent(const std::vector<int>& ranks, double within_s) {
  const auto start = Clock::now();
  for (const int rank : ranks) {
    mailbox_.send(rank, {{"do", "ping"}});
  }
  std::vector<int> rest = ranks;
  while (!rest.empty() && seconds_since(start) < within_s) {
    const bool news = next().has_value();
    turn_(news);
    std::erase_if(rest, [&](int rank) { return heard_[rank] > start; });
  }
  return rest;
}

std::optional<Envelope> Conversation::next() {
  auto envelope = mailbox_.receive();
  if (envelope) {
    heard_[envelope->from] = Clock::now();
  }
  return envelope;
}

}  // namespace fleetbench::fleet
