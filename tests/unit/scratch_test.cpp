#include "probes/support/scratch.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void write_file(const fs::path& path) { std::ofstream(path) << "x"; }

std::string error_of(const fs::path& parent) {
  try {
    Scratch scratch(parent);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool is_gone_within(const fs::path& path, double limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  while (fs::exists(path) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !fs::exists(path);
}

TEST(Scratch, IsOursAloneAndGoesWithAllThatIsInIt) {
  fs::path path;
  {
    const Scratch scratch(fs::temp_directory_path());
    path = scratch.path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
    fs::create_directories(path / "a" / "b");
    write_file(path / "a" / "b" / "c");
    fs::permissions(path / "a" / "b" / "c", fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Scratch, FollowsNoLinkWhenItGoes) {
  const Scratch outside(fs::temp_directory_path());
  write_file(outside.path() / "kept");
  {
    const Scratch scratch(fs::temp_directory_path());
    fs::create_directory_symlink(outside.path(), scratch.path() / "link");
  }
  EXPECT_TRUE(fs::exists(outside.path() / "kept"));
}

TEST(Scratch, IsNoFaultWhereItIsGoneAlready) {
  const Scratch scratch(fs::temp_directory_path());
  fs::remove_all(scratch.path());
}

TEST(Scratch, GoesWhenItsProcessIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Scratch scratch(fs::temp_directory_path());
    write_file(scratch.path() / "file");
    const auto name = scratch.path().string();
    [[maybe_unused]] const auto written = write(ends[1], name.data(), name.size());
    pause();
  }
  char name[4096] = {};
  ASSERT_GT(read(ends[0], name, sizeof name - 1), 0);
  ASSERT_TRUE(fs::exists(fs::path(name) / "file"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone_within(name, 10));
}

TEST(Scratch, SaysWhatIsWrongWithItsParent) {
  const Scratch scratch(fs::temp_directory_path());
  write_file(scratch.path() / "file");
  EXPECT_THAT(error_of("/nowhere/at/all"), HasSubstr("/nowhere/at/all: No such file"));
  EXPECT_THAT(error_of(scratch.path() / "file"), HasSubstr("file: Not a directory"));
  EXPECT_THAT(error_of("/proc"), HasSubstr("/proc: "));
}

TEST(Scratch, TakesOnlyAShareOfWhatIsFree) {
  const Scratch scratch(fs::temp_directory_path());
  require_free_space(scratch.path(), 1, 0.5);
  try {
    require_free_space(scratch.path(), 1e18, 0.5);
    FAIL() << "there is no such disk";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 50 %"));
    EXPECT_THAT(error.what(), HasSubstr(scratch.path().string()));
  }
}

}  // namespace
}  // namespace fleetbench
