// The data set on disk, and what becomes of one that is damaged.
#include "probes/images/image_set.hpp"

#include <gmock/gmock.h>
#include <sys/mount.h>

#include <cstring>
#include <fstream>

#include "probes/images/file_bytes.hpp"
#include "probes/images/parallel.hpp"
#include "probes/images/sample_source.hpp"
#include "probes/images/verify.hpp"
#include "probes/probe.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace fleetbench::images {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

ImageSetSpec spec(const fs::path& directory, std::vector<Form> forms, int images = 16) {
  return {.directory = directory,
          .forms = std::move(forms),
          .images = images,
          .png_share = 0.125,
          .share_of_free = 0.5};
}

// "wrong: …", "corrupt: …" or "failed: …".
std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const WrongResult& error) {
    return std::string("wrong: ") + error.what();
  } catch (const CorruptImage& error) {
    return std::string("corrupt: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("failed: ") + error.what();
  }
  return "";
}

std::string fault_of(const ImageSet& set) {
  return error_of([&] { verify(set, 2); });
}

void change_byte(const fs::path& path, std::int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int old = file.get();
  file.seekp(at);
  file.put(static_cast<char>(old ^ 0x55));
}

void cut_in_half(const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }

class ImageSets : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(ImageSets, HoldTheSameImagesInEachForm) {
  const ImageSet set(spec(directory_.path(), {Form::files, Form::tar, Form::tar_zst}, 32), 2);
  verify(set, 2);
  EXPECT_EQ(set.shards(), 2);
  EXPECT_EQ(set.samples()[7].name, "000007.png");
  Bytes from_tar;
  Bytes from_file;
  for (const Form form : {Form::tar, Form::tar_zst}) {
    WholeShard shard(set, form, 1);
    for (int i = 0; i < kImagesPerShard; ++i) {
      const std::size_t image = shard.next(from_tar);
      read_file(set.file(image), from_file);
      EXPECT_EQ(from_tar, from_file) << image;
    }
    EXPECT_TRUE(shard.is_done());
  }
}

TEST_F(ImageSets, AreTheSameWhereverTheyAreMade) {
  const ImageSet one(spec(directory_.path(), {Form::files}), 1);
  const ImageSet other(spec(directory_.path(), {Form::tar}), 2);
  EXPECT_NE(one.folder(), other.folder());
  EXPECT_EQ(one.crc(), other.crc());
  EXPECT_GT(one.mean_jpeg_bytes(), 80e3);
}

TEST_F(ImageSets, AreGoneWithTheirOwner) {
  fs::path folder;
  {
    const ImageSet set(spec(directory_.path(), {Form::files}), 2);
    folder = set.folder();
    EXPECT_TRUE(fs::exists(folder / "files" / "000000.jpg"));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(ImageSets, CannotBeMadeWhereThereIsNoFolderOrNoRoom) {
  EXPECT_THAT(error_of([] { ImageSet(spec("/nowhere/at/all", {Form::files}), 1); }),
              HasSubstr("failed: scratch in /nowhere/at/all: No such file"));
  auto greedy = spec(directory_.path(), {Form::files});
  greedy.share_of_free = 1e-12;
  EXPECT_THAT(error_of([&] { ImageSet(greedy, 1); }), HasSubstr("takes at most"));
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(ImageSets, SayWhichFileIsDamaged) {
  const struct {
    const char* name;
    std::vector<Form> forms;
    std::function<void(const ImageSet&)> damage;
    std::vector<const char*> says;
  } cases[] = {
      {"a cut JPEG",
       {Form::files},
       [](const ImageSet& s) { cut_in_half(s.file(3)); },
       {"corrupt: ", "files/000003.jpg", "Premature end of JPEG"}},
      {"a cut PNG",
       {Form::files},
       [](const ImageSet& s) { cut_in_half(s.file(7)); },
       {"corrupt: ", "files/000007.png", "libpng: "}},
      {"a changed PNG",
       {Form::files},
       [](const ImageSet& s) { change_byte(s.file(7), 5000); },
       {"corrupt: ", "files/000007.png", "libpng: "}},
      {"an empty file",
       {Form::files},
       [](const ImageSet& s) { fs::resize_file(s.file(0), 0); },
       {"corrupt: ", "files/000000.jpg", "neither like a JPEG"}},
      {"another picture",
       {Form::files},
       [](const ImageSet& s) {
         fs::copy_file(s.file(1), s.file(2), fs::copy_options::overwrite_existing);
       },
       {"wrong: ", "000002.jpg", "pixels are not those"}},
      {"a file that is gone",
       {Form::files},
       [](const ImageSet& s) { fs::remove(s.file(5)); },
       {"failed: ", "files/000005.jpg", "No such file"}},
      {"all gone",
       {Form::tar},
       [](const ImageSet& s) { fs::remove_all(s.folder()); },
       {"failed: ", "tar/00000.tar", "libarchive: "}},
      {"a cut tar",
       {Form::tar},
       [](const ImageSet& s) { cut_in_half(s.shard(Form::tar, 0)); },
       {"failed: ", "tar/00000.tar", "libarchive: Truncated"}},
      {"an empty tar",
       {Form::tar},
       [](const ImageSet& s) { fs::resize_file(s.shard(Form::tar, 0), 0); },
       {"failed: ", "tar/00000.tar"}},
      {"a tar cut between two images",
       {Form::tar},
       [](const ImageSet& s) {
         fs::resize_file(s.shard(Form::tar, 0), 512 + (s.samples()[0].size + 511) / 512 * 512);
       },
       {"failed: ", "tar/00000.tar", "image 2 of 16 is missing"}},
      {"a changed image in a tar",
       {Form::files, Form::tar},
       [](const ImageSet& s) { change_byte(s.shard(Form::tar, 0), 40000); },
       {"wrong: ", "tar/00000.tar", "000000.jpg", "bytes are not those"}},
      {"a cut zstd stream",
       {Form::tar_zst},
       [](const ImageSet& s) { cut_in_half(s.shard(Form::tar_zst, 0)); },
       {"failed: ", "tar_zst/00000.tar.zst", "libarchive: "}},
  };
  for (const auto& c : cases) {
    const ImageSet set(spec(directory_.path(), c.forms), 2);
    c.damage(set);
    const std::string fault = fault_of(set);
    for (const char* text : c.says) {
      EXPECT_THAT(fault, HasSubstr(text)) << c.name;
    }
  }
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

// A file system of `options`, where this process may mount one.
class TinyDisk {
 public:
  TinyDisk(const fs::path& path, const char* options)
      : path_(path), mounted_(mount("tmpfs", path.c_str(), "tmpfs", 0, options) == 0) {}
  ~TinyDisk() {
    if (mounted_) {
      umount2(path_.c_str(), MNT_DETACH);
    }
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  bool is_mounted() const { return mounted_; }

 private:
  fs::path path_;
  bool mounted_;
};

TEST_F(ImageSets, SayThatTheDiskIsFull) {
  // Room for the bytes but not for the files: what is left when others fill the disk meanwhile.
  const TinyDisk disk(directory_.path(), "size=64m,nr_inodes=8");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a tmpfs needs root";
  }
  const auto fault = error_of([&] { ImageSet(spec(directory_.path(), {Form::files}), 2); });
  EXPECT_THAT(fault, HasSubstr("failed: "));
  EXPECT_THAT(fault, HasSubstr(directory_.path().string()));
  EXPECT_THAT(fault, HasSubstr("No space left"));
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(ImageSets, SayWhichFileNoLongerFits) {
  const TinyDisk disk(directory_.path(), "size=64k");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a tmpfs needs root";
  }
  const Bytes bytes(100'000);
  const auto file = directory_.path() / "file";
  EXPECT_THAT(error_of([&] { write_file(file, bytes); }),
              HasSubstr(file.string() + ": write: No space left"));
  fs::remove(file);
  EXPECT_THAT(error_of([&] {
                ShardWriter writer(file, Compression::none);
                writer.add("image", bytes);
                writer.finish();
              }),
              HasSubstr("No space left"));
}

TEST(InParallel, DoesEachPieceOnceAndTellsWhatWentWrong) {
  std::vector<std::atomic<int>> done(100);
  in_parallel(100, 4, [&](int i) { ++done[static_cast<std::size_t>(i)]; });
  for (const auto& count : done) {
    EXPECT_EQ(count, 1);
  }
  in_parallel(0, 4, [](int) { FAIL(); });
  EXPECT_EQ(error_of([] {
              in_parallel(100, 4, [](int i) {
                if (i == 50) {
                  throw WrongResult("fifty");
                }
              });
            }),
            "wrong: fifty");
}

TEST(Forms, HaveNamesThatCanBeRead) {
  for (const Form form : {Form::files, Form::tar, Form::tar_zst}) {
    EXPECT_EQ(parse_form(to_string(form)), form);
  }
  EXPECT_THROW(parse_form("zip"), std::invalid_argument);
}

}  // namespace
}  // namespace fleetbench::images
