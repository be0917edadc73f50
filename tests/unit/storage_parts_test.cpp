#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "probes/probe.hpp"
#include "probes/storage/data_files.hpp"
#include "probes/storage/file_tree.hpp"
#include "probes/storage/limit.hpp"
#include "probes/support/network_file_systems.hpp"
#include "probes/support/volume.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(IoLimit, FollowsFromTheFigures) {
  struct Case {
    const char* what;
    IoLoad load;
    IoLimit expected;
  };
  const std::vector<Case> table = {
      {"large blocks on a busy disk",
       {.block_bytes = 1 << 20, .depth = 4, .rate_per_s = 1000, .latency_s = 0.004, .busy = 0.9},
       IoLimit::throughput},
      {"large blocks, no disk to look at",
       {.block_bytes = 1 << 20, .depth = 4, .rate_per_s = 1000, .latency_s = 0.004},
       IoLimit::throughput},
      {"small blocks, queue full",
       {.block_bytes = 4096, .depth = 32, .rate_per_s = 32000, .latency_s = 0.001, .busy = 1},
       IoLimit::iops},
      {"small blocks one by one",
       {.block_bytes = 4096, .depth = 1, .rate_per_s = 1000, .latency_s = 0.001, .busy = 1},
       IoLimit::latency},
      {"the disk is idle, yet requests take long",
       {.block_bytes = 4096, .depth = 32, .rate_per_s = 320, .latency_s = 0.1, .busy = 0.1},
       IoLimit::latency},
      {"mostly idle by its jiffies, yet with a queue",
       {.block_bytes = 4096,
        .depth = 32,
        .rate_per_s = 32000,
        .latency_s = 0.001,
        .busy = 0.4,
        .disk_queue = 12},
       IoLimit::iops},
      {"the queue was never full",
       {.block_bytes = 4096, .depth = 32, .rate_per_s = 1000, .latency_s = 0.001, .busy = 0.3},
       IoLimit::unknown},
      {"neither small nor large",
       {.block_bytes = 65536, .depth = 8, .rate_per_s = 8000, .latency_s = 0.001, .busy = 1},
       IoLimit::unknown},
      {"small blocks that the kernel joined",
       {.block_bytes = 4096, .depth = 4, .rate_per_s = 1000, .request_bytes = 262144, .busy = 1},
       IoLimit::throughput},
  };
  for (const Case& one : table) {
    const auto verdict = io_limit(one.load);
    EXPECT_EQ(to_string(verdict.limit), to_string(one.expected)) << one.what;
    EXPECT_FALSE(verdict.why.empty());
  }
}

TEST(IoLimit, OfSmallFiles) {
  EXPECT_EQ(small_file_limit(1e6, std::nullopt).limit, IoLimit::metadata);
  EXPECT_EQ(small_file_limit(1e6, 1e9).limit, IoLimit::metadata);
  EXPECT_EQ(small_file_limit(8e8, 1e9).limit, IoLimit::throughput);
}

TEST(FileSystems, ThoseOfANetworkAreKnown) {
  for (const char* type :
       {"nfs", "nfs4", "lustre", "gpfs", "ceph", "beegfs", "cifs", "9p", "wekafs", "virtiofs",
        "fuse.sshfs", "fuse.juicefs", "fuse", "fuse.new"}) {
    EXPECT_TRUE(may_be_shared(type)) << type;
  }
  for (const char* type : {"ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "fuseblk", ""}) {
    EXPECT_FALSE(may_be_shared(type)) << type;
  }
  EXPECT_TRUE(is_memory("tmpfs"));
  EXPECT_FALSE(is_memory("ext4"));
}

TEST(Volume, IsReadFromTheTableOfMounts) {
  const TemporaryDirectory root;
  fs::create_directories(root.path() / "proc/self");
  const TemporaryDirectory folder;
  const auto at = fs::canonical(folder.path()).string();
  std::ofstream(root.path() / "proc/self/mountinfo")
      << "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
      << "2 1 0:9 / " << at << " rw,noatime - nfs4 server:/x rw,vers=4.2,password=hunter2\n";
  std::ofstream(root.path() / "proc/self/mountstats")
      << "device server:/x mounted on " << at
      << " with fstype nfs4 statvers=1.1\n\tper-op statistics\n\tREAD: 1 1 0 1 1 1 1 1\n";
  const HostFiles files(root.path());
  const Volume volume = volume_of(files, folder.path());
  EXPECT_TRUE(volume.shared);
  EXPECT_EQ(volume.facts.at("fs_type"), "nfs4");
  EXPECT_EQ(volume.facts.at("mount_point"), at);
  EXPECT_EQ(volume.facts.at("medium"), "network");
  EXPECT_THAT(volume.facts.at("options"), HasSubstr("noatime"));
  EXPECT_EQ(volume.facts.dump().find("hunter2"), std::string::npos);
  require_permission(volume, folder.path(), true);
  try {
    require_permission(volume, folder.path(), false);
    FAIL() << "a shared folder must be named as such";
  } catch (const NotAvailable& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.path().string() + " is on nfs4"));
    EXPECT_THAT(error.what(), HasSubstr("\"shared\": true"));
  }
  ASSERT_TRUE(nfs_counters_now(files, volume));
  EXPECT_FALSE(disk_counters_now(files, volume));
}

TEST(DataFiles, AreNoiseOfTheGivenSizeAndCanBeForgotten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "data";
  constexpr std::uint64_t kBytes = (3U << 20U) + 17;
  write_data_file(path, kBytes, 1);
  EXPECT_EQ(fs::file_size(path), kBytes);
  EXPECT_THROW(write_data_file(path, 1, 1), std::runtime_error);  // never over another's file
  const bool forgotten = drop_from_cache(path);
  const auto cached = cached_share(path);
  ASSERT_TRUE(cached);
  EXPECT_EQ(forgotten, *cached <= 0.01);
  EXPECT_FALSE(cached_share(folder.path() / "absent"));
  EXPECT_FALSE(drop_from_cache(folder.path() / "absent"));
}

TEST(DataFiles, NoiseIsTheSameForTheSameSeedAlone) {
  std::vector<std::byte> a(1003);
  std::vector<std::byte> b(1003);
  fill_with_noise(a, 1);
  fill_with_noise(b, 1);
  EXPECT_EQ(a, b);
  fill_with_noise(b, 2);
  EXPECT_NE(a, b);
}

// A limit on the size of files stands for a disk that is full: both end a write half way.
TEST(DataFiles, AWriteThatFailsNamesTheFile) {
  const TemporaryDirectory folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string failure;
  try {
    write_data_file(folder.path() / "x", 4000, 1);
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(failure, "writing " + (folder.path() / "x").string() + ": File too large");
}

TEST(FileTree, SharesFilesEvenlyAndDoesEveryKindOfWork) {
  const TemporaryDirectory folder;
  const auto trees = make_trees(folder.path() / "small", 11, 2, 3);
  ASSERT_EQ(trees.size(), 2U);
  EXPECT_EQ(trees[0].files.size(), 6U);
  EXPECT_EQ(trees[1].files.size(), 5U);
  EXPECT_EQ(trees[1].first, 6U);
  EXPECT_EQ(trees[0].folders.size(), 2U);
  for (const FileTree& tree : trees) {
    make_folders(tree);
    create_files(tree, 1000);
    forget_contents(tree);
    stat_files(tree);
    EXPECT_EQ(list_folders(tree), tree.files.size());
    read_files(tree, 1000);
    delete_files(tree);
    EXPECT_THROW(stat_files(tree), std::runtime_error);
    delete_folders(tree);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(FileTree, OtherContentThanWasWrittenIsWrong) {
  const TemporaryDirectory folder;
  const auto tree = make_trees(folder.path() / "small", 3, 1, 10).front();
  make_folders(tree);
  create_files(tree, 100);
  read_files(tree, 100);
  fs::resize_file(tree.files[1], 99);
  EXPECT_THROW(read_files(tree, 100), WrongResult);
  std::ofstream(tree.files[1]) << std::string(100, 'x');
  EXPECT_THROW(read_files(tree, 100), WrongResult);
}

}  // namespace
}  // namespace fleetbench
