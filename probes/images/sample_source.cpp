#include "probes/images/sample_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "probes/images/file_bytes.hpp"
#include "probes/images/random.hpp"
#include "probes/images/synthetic_image.hpp"
#include "probes/support/printable.hpp"

namespace fleetbench::images {
namespace {

constexpr std::uint64_t kSeed = 20221129;

// std::shuffle, whose result each standard library may choose for itself, would not do.
template <typename T>
void shuffle(std::span<T> values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
}

class FileSource : public SampleSource {
 public:
  FileSource(const ImageSet& set, const Order& order) : set_(set), order_(order) {}
  Origin read(std::uint64_t position, Bytes& bytes) override {
    const std::size_t image = order_.image(position);
    auto path = set_.file(image);
    read_file(path, bytes);
    return {image, std::move(path)};
  }

 private:
  const ImageSet& set_;
  const Order& order_;
};

class ShardSource : public SampleSource {
 public:
  ShardSource(const ImageSet& set, Form form, Order& order)
      : set_(set), form_(form), order_(order) {}
  Origin read(std::uint64_t /*position*/, Bytes& bytes) override {
    if (!shard_ || shard_->is_done()) {
      shard_.emplace(set_, form_, order_.take_shard());
    }
    const std::size_t image = shard_->next(bytes);
    return {image, shard_->path()};
  }

 private:
  const ImageSet& set_;
  Form form_;
  Order& order_;
  std::optional<WholeShard> shard_;
};

}  // namespace

void decode_named(Decoder& decoder, const Bytes& bytes, Picture& picture,
                  const std::filesystem::path& path, const Sample& sample) {
  try {
    decoder.decode(bytes, picture);
  } catch (const CorruptImage& error) {
    throw CorruptImage(printable_text(fmt::format("{}: image {} cannot be decoded: {}",
                                                  path.string(), sample.name, error.what())));
  }
}

WholeShard::WholeShard(const ImageSet& set, Form form, int number)
    : set_(set),
      number_(number),
      path_(set.shard(form, number)),
      reader_(path_, compression_of(form)) {}

std::size_t WholeShard::next(Bytes& bytes) {
  const std::string name = reader_.next(bytes);
  const auto image = static_cast<std::size_t>(number_ * kImagesPerShard + read_);
  const std::string& expected = set_.samples()[image].name;
  if (name != expected) {
    throw std::runtime_error(printable_text(
        fmt::format("{}: image {} of {} is {}, not {}: the file was cut or changed", path_.string(),
                    read_ + 1, kImagesPerShard, name.empty() ? "missing" : name, expected)));
  }
  ++read_;
  return image;
}

Order::Order(const ImageSet& set) : shards_(static_cast<std::size_t>(set.shards())) {
  Random random(kSeed);
  const std::size_t group_size = kSizesInAGroup;
  std::vector<std::size_t> groups(set.samples().size() / group_size);
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  shuffle(std::span(groups), random);
  for (const std::size_t group : groups) {
    for (std::size_t i = 0; i < group_size; ++i) {
      images_.push_back(group * group_size + i);
    }
    shuffle(std::span(images_).last(group_size), random);
  }
  std::iota(shards_.begin(), shards_.end(), 0);
  shuffle(std::span(shards_), random);
}

int Order::take_shard() { return shards_[next_shard_++ % shards_.size()]; }

std::unique_ptr<SampleSource> make_source(const ImageSet& set, Form form, Order& order) {
  if (form == Form::files) {
    return std::make_unique<FileSource>(set, order);
  }
  return std::make_unique<ShardSource>(set, form, order);
}

}  // namespace fleetbench::images
