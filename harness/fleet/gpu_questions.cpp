#include "harness/fleet/gpu_questions.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "harness/fleet/agent.hpp"
#include "harness/plan/roster.hpp"

namespace fleetbench::fleet {

std::map<int, Json> look_at_gpus(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                                 Progress& progress, double limit_s,
                                 std::map<int, std::string>& lost) {
  Question question{
      .slot = kLookSlot, .re = "look", .messages = {}, .limit_s = limit_s, .is_patient = true};
  std::map<int, std::string> names;
  for (const auto& node : nodes) {
    for (const int rank : node.ranks) {
      if (node.name != plan::name_of_silent_rank(rank)) {
        names[rank] = node.name;
        question.messages[rank] = [limit_s]() -> Json {
          return {{"do", "look"}, {"slot", kLookSlot}, {"limit_s", limit_s}};
        };
      }
    }
  }
  Listener listener;
  listener.waiting = [&](const std::vector<int>& ranks) {
    std::vector<std::string> waiting;
    for (const int rank : ranks) {
      waiting.push_back(names.at(rank));
    }
    progress.waiting_for(waiting);
  };
  std::vector<double> history_s;
  Answers answers = conversation.ask(question, history_s, listener);
  std::map<int, Json> seen;
  for (auto& [rank, answer] : answers.given) {
    const bool ok = answer.value("status", "failed") == to_string(Status::ok);
    seen[rank] = ok ? std::move(answer["detail"]) : Json{{"reason", answer.value("reason", "")}};
  }
  for (const auto& [rank, late] : answers.late) {
    seen[rank] = {{"reason", late.reason + late.last_words}};
  }
  lost.merge(answers.lost);
  return seen;
}

Json calibrate(Conversation& conversation, const plan::PlannedStep& step, const plan::OwnedGpu& gpu,
               double limit_s, std::map<int, std::string>& lost) {
  const Order order{.slot = kCalibrateSlot,
                    .turn = 0,
                    .runner = step.runner,
                    .probe = step.probe.name,
                    .params = step.scenario.params,
                    .work = Json::object(),
                    .members = {},
                    .gpus = {{gpu.label, gpu.uuid}},
                    .in_one_process = false,
                    .limit_s = limit_s};
  const Question question{.slot = kCalibrateSlot,
                          .re = "calibrate",
                          .messages = {{gpu.rank, [&] { return message_of("calibrate", order); }}},
                          .limit_s = limit_s};
  std::vector<double> history_s;
  Answers answers = conversation.ask(question, history_s, Listener());
  const auto given = answers.given.find(gpu.rank);
  if (given == answers.given.end()) {
    lost.merge(answers.lost);
    throw std::runtime_error(fmt::format("rank {} does not answer", gpu.rank));
  }
  if (given->second.value("status", "failed") != to_string(Status::ok)) {
    throw std::runtime_error(given->second.value("reason", ""));
  }
  return std::move(given->second["work"]);
}

}  // namespace fleetbench::fleet
