#include "probes/images/verify.hpp"

#include <fmt/format.h>

#include "probes/images/decoder.hpp"
#include "probes/images/file_bytes.hpp"
#include "probes/images/parallel.hpp"
#include "probes/images/sample_source.hpp"
#include "probes/probe.hpp"

namespace fleetbench::images {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const Sample& sample,
                         const char* what) {
  throw WrongResult(fmt::format(
      "{}: image {}: {} are not those that were made: memory, processor or storage of this "
      "machine changed them",
      path.string(), sample.name, what));
}

void check_pixels(const std::filesystem::path& path, const Sample& sample, const Bytes& bytes,
                  Decoder& decoder, Picture& pixels) {
  decode_named(decoder, bytes, pixels, path, sample);
  if (crc_of(pixels) != sample.pixels_crc) {
    refuse(path, sample, "the decoded pixels");
  }
}

// One thread's.
struct Checker {
  bool decodes;
  Decoder decoder;
  Picture pixels;
  Bytes bytes;

  void check(const std::filesystem::path& path, const Sample& sample) {
    if (decodes) {
      check_pixels(path, sample, bytes, decoder, pixels);
    } else if (crc_of(bytes) != sample.file_crc) {
      refuse(path, sample, "the bytes");
    }
  }
};

void verify_files(const ImageSet& set, int shard, Checker& checker) {
  for (int i = shard * kImagesPerShard; i < (shard + 1) * kImagesPerShard; ++i) {
    const auto image = static_cast<std::size_t>(i);
    read_file(set.file(image), checker.bytes);
    checker.check(set.file(image), set.samples()[image]);
  }
}

void verify_shard(const ImageSet& set, Form form, int number, Checker& checker) {
  WholeShard whole(set, form, number);
  while (!whole.is_done()) {
    const Sample& sample = set.samples()[whole.next(checker.bytes)];
    checker.check(whole.path(), sample);
  }
}

}  // namespace

void verify(const ImageSet& set, int threads) {
  for (const Form form : set.spec().forms) {
    const bool decodes = form == set.spec().forms.front();
    in_parallel(set.shards(), threads, [&](int shard) {
      Checker checker{.decodes = decodes};
      if (form == Form::files) {
        verify_files(set, shard, checker);
      } else {
        verify_shard(set, form, shard, checker);
      }
    });
  }
}

}  // namespace fleetbench::images
