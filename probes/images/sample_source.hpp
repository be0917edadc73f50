// Where a worker of the loader has its images' bytes from: a file each, or a shard at a time.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "probes/images/decoder.hpp"
#include "probes/images/image_set.hpp"

namespace fleetbench::images {

// Decodes the image that was read from `path`; what is thrown names both.
void decode_named(Decoder& decoder, const Bytes& bytes, Picture& picture,
                  const std::filesystem::path& path, const Sample& sample);

// A shard that must hold just the images that were put there.
class WholeShard {
 public:
  WholeShard(const ImageSet& set, Form form, int number);
  // Number of the image in the set. To be called kImagesPerShard times. Throws std::runtime_error
  // naming the shard where it ends early or holds something else.
  std::size_t next(Bytes& bytes);
  bool is_done() const { return read_ == kImagesPerShard; }
  const std::filesystem::path& path() const { return path_; }

 private:
  const ImageSet& set_;
  int number_;
  std::filesystem::path path_;
  ShardReader reader_;
  int read_ = 0;
};

// In which all workers together go through the set, epoch after epoch: shuffled, the same
// on every node. Groups of kSizesInAGroup neighbours stay together, shuffled among themselves, so
// that each stretch of the order is the same work as the next.
class Order {
 public:
  explicit Order(const ImageSet& set);
  std::size_t image(std::uint64_t position) const { return images_[position % images_.size()]; }
  // Each call gives the next shard: it belongs to the worker that asked, until it is read.
  int take_shard();

 private:
  std::vector<std::size_t> images_;
  std::vector<int> shards_;
  std::atomic<std::size_t> next_shard_ = 0;
};

// One thread.
class SampleSource {
 public:
  struct Origin {
    std::size_t image;  // its number in the set
    std::filesystem::path path;
  };

  virtual ~SampleSource() = default;
  // The bytes of one image replace `bytes`. `position`, in the order of all workers, says which;
  // who reads a shard takes its next instead. Throws std::runtime_error naming the file.
  virtual Origin read(std::uint64_t position, Bytes& bytes) = 0;
};

// `set` and `order` must outlive it.
std::unique_ptr<SampleSource> make_source(const ImageSet& set, Form form, Order& order);

}  // namespace fleetbench::images
