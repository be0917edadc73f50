// What each rank leaves in the run directory before it joins the MPI job, so that whoever started
// them can name those who never came up: a rank that stops there hangs all the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fleetbench::record {

struct Mark {
  std::string host;
  int rank = 0;
  int ranks = 1;                       // in the job, where the launcher said so
  std::vector<std::string> addresses;  // of the host, without loopback
  long long alive_ns = 0;  // when it last said that it waits, on the clock of the file system
};

// The mark of this process: DIR/hello/HOST.RANK. Removed by whoever clears the folder.
class OwnMark {
 public:
  // Throws std::system_error where it cannot be made; an older one of the same name is replaced.
  OwnMark(const std::filesystem::path& directory, int rank, int ranks);
  ~OwnMark();
  OwnMark(const OwnMark&) = delete;
  OwnMark& operator=(const OwnMark&) = delete;

  void say_alive() const;

 private:
  int file_ = -1;
};

// All that are whole by now.
std::vector<Mark> read_marks(const std::filesystem::path& directory);

void remove_marks(const std::filesystem::path& directory);

}  // namespace fleetbench::record
