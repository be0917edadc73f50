#include "harness/worker/worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "results-schema/check.hpp"

namespace fleetbench::worker {
namespace {

// More than any answer; a worker that writes this much without a line end is broken.
constexpr std::size_t kLongestAnswer_bytes = 16 << 20;
// What is kept of a worker's standard error.
constexpr std::size_t kLastWords_bytes = 2000;

// Appends what can be read now. False once the other end is closed.
bool drain(int descriptor, std::string& text, std::size_t limit) {
  char buffer[65536];
  while (text.size() < limit) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

std::string excerpt(const std::string& line) {
  return Json(line.substr(0, 80)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

// What a line from the worker says; a line that is no answer is a failure.
// Whether it says that its process can measure no more.
bool is_spent(const Json& answer) {
  const auto spent = answer.find("spent");
  return spent != answer.end() && spent->is_boolean() && spent->get<bool>();
}

Reply parse_answer(const std::string& line) {
  Json body = parse_foreign_json(line);
  if (!body.is_object() || !body.contains("status") || !body.at("status").is_string()) {
    return {Status::failed, fmt::format("the worker wrote {} instead of an answer", excerpt(line)),
            Json::object()};
  }
  Reply reply;
  try {
    reply.status = parse_status(body.at("status").get<std::string>());
  } catch (const std::invalid_argument& error) {
    return {Status::failed, fmt::format("the worker's answer: {}", error.what()), Json::object()};
  }
  if (body.contains("reason") && body.at("reason").is_string()) {
    reply.reason = body.at("reason").get<std::string>();
  }
  reply.body = std::move(body);
  return reply;
}

}  // namespace

Worker::Clock::time_point Worker::after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void Worker::send(const Json& command, double limit_s) {
  state_ = State::busy;
  limit_s_ = limit_s;
  deadline_ = after(limit_s);
  closing_ = false;
  received_.clear();
  unsent_ = command.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  try {
    if (!process_) {
      start();
    }
    forget_words();
    write_pending();
  } catch (const std::system_error& error) {
    process_.reset();
    end_reason_ = error.what();
  }
}

// What it said of earlier commands explains none that follows, unless it died meanwhile.
void Worker::forget_words() {
  read_all();
  if (!output_closed_) {
    error_text_.clear();
  }
}

void Worker::start() {
  process_.reset();
  error_text_.clear();
  output_closed_ = false;
  errors_closed_ = false;
  process_ = std::make_unique<ChildProcess>(command_);
}

void Worker::write_pending() {
  while (!unsent_.empty()) {
    const ssize_t count = write(process_->input(), unsent_.data(), unsent_.size());
    if (count <= 0) {
      return;  // the pipe is full, or the worker is gone, which reading will show
    }
    unsent_.erase(0, static_cast<std::size_t>(count));
  }
}

void Worker::read_all() {
  if (!drain(process_->output(), received_, kLongestAnswer_bytes)) {
    output_closed_ = true;
  }
  if (!drain(process_->errors(), error_text_, error_text_.size() + kLastWords_bytes * 40)) {
    errors_closed_ = true;
  }
  if (error_text_.size() > kLastWords_bytes) {
    error_text_.erase(0, error_text_.size() - kLastWords_bytes);
  }
}

std::optional<Reply> Worker::poll() {
  if (state_ == State::idle) {
    return std::nullopt;
  }
  if (!process_) {
    return finish({Status::failed, end_reason_, Json::object()});
  }
  write_pending();
  read_all();
  if (state_ == State::terminating || state_ == State::killing) {
    return continue_end();
  }
  if (auto answer = next_answer()) {
    return answer;
  }
  if (auto death = after_death()) {
    return death;
  }
  if (Clock::now() >= deadline_) {
    begin_end(fmt::format("no answer within {:.3g} s", limit_s_));
  }
  return std::nullopt;
}

std::optional<Reply> Worker::next_answer() {
  const auto end = received_.find('\n');
  if (end == std::string::npos && received_.size() < kLongestAnswer_bytes) {
    return std::nullopt;
  }
  Reply reply = parse_answer(received_.substr(0, end));
  // Who writes rubbish cannot be trusted with the next command; who is spent says so itself.
  if (reply.body.empty() || is_spent(reply.body)) {
    stop();
  }
  return finish(std::move(reply));
}

std::optional<Reply> Worker::after_death() {
  const auto exit = process_->reap();
  if (!exit && !output_closed_) {
    return std::nullopt;
  }
  // The pipe closes a moment before the process is gone, and only then it is known how it went.
  if (!exit && !closing_) {
    closing_ = true;
    deadline_ = std::min(deadline_, after(kTermGrace_s));
  }
  if (!exit && Clock::now() < deadline_) {
    return std::nullopt;
  }
  read_all();
  std::string how = exit ? describe(*exit) : "closed its pipe";
  Reply reply{Status::failed, fmt::format("the worker {}{}", how, last_words()), Json::object()};
  stop();
  return finish(std::move(reply));
}

void Worker::cancel(const std::string& reason) {
  if (state_ == State::busy && process_) {
    begin_end(reason);
  }
}

void Worker::begin_end(const std::string& reason) {
  end_reason_ = reason;
  state_ = State::terminating;
  process_->signal_group(SIGTERM);
  deadline_ = after(kTermGrace_s);
}

std::optional<Reply> Worker::continue_end() {
  const bool gone = process_->reap().has_value();
  if (!gone && Clock::now() < deadline_) {
    return std::nullopt;
  }
  if (!gone && state_ == State::terminating) {
    process_->signal_group(SIGKILL);
    state_ = State::killing;
    deadline_ = after(kKillGrace_s);
    return std::nullopt;
  }
  Reply reply{Status::timeout, end_reason_ + last_words(), Json::object()};
  if (!gone) {
    reply.reason += fmt::format("; process {} does not end, the kernel holds it", process_->pid());
  }
  stop();
  return finish(std::move(reply));
}

void Worker::stop() {
  process_.reset();
  state_ = State::idle;
}

Reply Worker::finish(Reply reply) {
  state_ = State::idle;
  received_.clear();
  return reply;
}

std::string Worker::last_words() const {
  std::string text = error_text_;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text.empty() ? "" : "; its last words: " + text;
}

std::vector<pollfd> Worker::descriptors() const {
  if (!process_ || state_ == State::idle) {
    return {};
  }
  // A closed pipe is always ready: waiting on it would not be waiting.
  std::vector<pollfd> result;
  if (!errors_closed_) {
    result.push_back({process_->errors(), POLLIN, 0});
  }
  if (!output_closed_) {
    result.push_back({process_->output(), POLLIN, 0});
  }
  return result;
}

Reply Worker::ask(const Json& command, double limit_s, const std::function<void()>& meanwhile) {
  send(command, limit_s);
  while (true) {
    meanwhile();
    if (auto reply = poll()) {
      return *reply;
    }
    auto waiting = descriptors();
    ::poll(waiting.data(), waiting.size(), 20);
  }
}

std::string path_beside_this_executable(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace fleetbench::worker
