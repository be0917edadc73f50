// The data set on disk, in the forms in which training jobs keep theirs.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "probes/images/sample.hpp"
#include "probes/images/shard.hpp"
#include "probes/support/scratch.hpp"

namespace fleetbench::images {

enum class Form { files, tar, tar_zst };

std::string_view to_string(Form form);
Form parse_form(std::string_view text);  // throws std::invalid_argument
Compression compression_of(Form form);

// Shards are small beside a training job's, so that many workers find one each; what reading them
// costs per image is the same.
constexpr int kImagesPerShard = 16;

struct ImageSetSpec {
  std::filesystem::path directory;  // see Scratch
  std::vector<Form> forms;
  int images = 0;  // a multiple of kImagesPerShard
  double png_share = 0;
  double share_of_free = 0;  // see require_free_space

  bool has(Form form) const;
  bool operator==(const ImageSetSpec&) const = default;
};

// Made when constructed, on `threads` threads; removed by the destructor. Not changed in between,
// so that any number of threads may read it.
class ImageSet {
 public:
  // Throws std::runtime_error where there is no room or no folder, WrongResult where an image
  // cannot be made (see make_sample).
  ImageSet(const ImageSetSpec& spec, int threads);

  const std::vector<Sample>& samples() const { return samples_; }
  int shards() const { return static_cast<int>(samples_.size()) / kImagesPerShard; }
  std::filesystem::path file(std::size_t image) const;
  std::filesystem::path shard(Form form, int number) const;
  const ImageSetSpec& spec() const { return spec_; }
  const std::filesystem::path& folder() const { return scratch_.path(); }

  // Of all encoded bytes and decoded pixels: two nodes whose numbers differ have codecs that do.
  std::uint32_t crc() const;
  double mean_jpeg_bytes() const;

  // See file_bytes.hpp.
  void drop_from_page_cache(Form form) const;

 private:
  void make_shard(int number);

  ImageSetSpec spec_;
  Scratch scratch_;
  std::vector<Sample> samples_;
};

}  // namespace fleetbench::images
