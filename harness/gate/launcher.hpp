// The launcher as a child: its output is passed on, its end is noticed.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "harness/report/escape.hpp"
#include "harness/worker/child_process.hpp"

namespace fleetbench::gate {

class Launcher {
 public:
  // Starts the command in a process group of its own. Open MPI is told not to end all ranks when
  // one dies, for the root goes on without it. Throws std::system_error naming the command.
  explicit Launcher(const std::vector<std::string>& command);

  // Passes on what it wrote, to our standard output and error, without what would steer a terminal
  // (it may be the words of any node), and sleeps a little where there is
  // nothing. False once it has ended.
  bool turn();
  // Asks it to end, by SIGTERM, and ends it after so many seconds, with whatever of it is left on
  // this host: what it starts may be in sessions of their own.
  void end(double patience_s);

  // Once it has ended. "exited with code 1"
  std::string how_it_ended() const;
  // The last lines of its standard error, of which there may be none.
  std::string last_words() const;
  // Nodes whose launch daemon it says that it has lost.
  std::vector<std::string> lost_daemons() const;

 private:
  bool pass_on(int from, int to, report::EscapedStream& shown, bool keep);
  void keep(const std::string& text);
  void end_what_is_left() const;

  worker::ChildProcess process_;
  std::optional<worker::Exit> exit_;
  std::deque<std::string> lines_;
  report::EscapedStream shown_output_;
  report::EscapedStream shown_errors_;
  bool output_closed_ = false;
  bool errors_closed_ = false;
};

// The node that a line of Open MPI's mpirun says to have lost the daemon of; empty where it is not
// such a line.
std::string lost_daemon(const std::string& line);

}  // namespace fleetbench::gate
