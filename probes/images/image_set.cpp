#include "probes/images/image_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probes/images/file_bytes.hpp"
#include "probes/images/parallel.hpp"

namespace fleetbench::images {
namespace {

// With the file system's rounding; see synthetic_image.hpp.
constexpr double kJpegBytes = 125e3;
constexpr double kPngBytes = 560e3;

double expected_bytes(const ImageSetSpec& spec) {
  const double each = spec.png_share * kPngBytes + (1 - spec.png_share) * kJpegBytes;
  return each * spec.images * static_cast<double>(spec.forms.size());
}

}  // namespace

bool ImageSetSpec::has(Form form) const {
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

std::string_view to_string(Form form) {
  switch (form) {
    case Form::files:
      return "files";
    case Form::tar:
      return "tar";
    case Form::tar_zst:
      return "tar_zst";
  }
  throw std::logic_error("form without a name");
}

Form parse_form(std::string_view text) {
  for (const Form form : {Form::files, Form::tar, Form::tar_zst}) {
    if (text == to_string(form)) {
      return form;
    }
  }
  throw std::invalid_argument(fmt::format("\"{}\" is none of files, tar, tar_zst", text));
}

Compression compression_of(Form form) {
  return form == Form::tar_zst ? Compression::zstd : Compression::none;
}

ImageSet::ImageSet(const ImageSetSpec& spec, int threads)
    : spec_(spec), scratch_(spec.directory), samples_(static_cast<std::size_t>(spec.images)) {
  require_free_space(scratch_.path(), expected_bytes(spec_), spec_.share_of_free);
  for (const Form form : spec_.forms) {
    std::filesystem::create_directory(scratch_.path() / to_string(form));
  }
  in_parallel(shards(), threads, [&](int number) { make_shard(number); });
}

std::filesystem::path ImageSet::file(std::size_t image) const {
  return scratch_.path() / "files" / samples_.at(image).name;
}

std::filesystem::path ImageSet::shard(Form form, int number) const {
  return scratch_.path() / to_string(form) /
         fmt::format("{:05}.{}", number, form == Form::tar_zst ? "tar.zst" : "tar");
}

void ImageSet::make_shard(int number) {
  std::optional<ShardWriter> tar;
  std::optional<ShardWriter> tar_zst;
  if (spec_.has(Form::tar)) {
    tar.emplace(shard(Form::tar, number), Compression::none);
  }
  if (spec_.has(Form::tar_zst)) {
    tar_zst.emplace(shard(Form::tar_zst, number), Compression::zstd);
  }
  for (int image = number * kImagesPerShard; image < (number + 1) * kImagesPerShard; ++image) {
    const EncodedSample made = make_sample(image, spec_.png_share);
    samples_[static_cast<std::size_t>(image)] = made.sample;
    if (spec_.has(Form::files)) {
      write_file(file(static_cast<std::size_t>(image)), made.bytes);
    }
    for (auto* writer : {&tar, &tar_zst}) {
      if (*writer) {
        (*writer)->add(made.sample.name, made.bytes);
      }
    }
  }
  for (auto* writer : {&tar, &tar_zst}) {
    if (*writer) {
      (*writer)->finish();
    }
  }
}

std::uint32_t ImageSet::crc() const {
  std::vector<std::uint32_t> all;
  for (const Sample& sample : samples_) {
    all.push_back(sample.file_crc);
    all.push_back(sample.pixels_crc);
  }
  return crc_of(std::as_bytes(std::span(all)));
}

double ImageSet::mean_jpeg_bytes() const {
  double bytes = 0;
  double count = 0;
  for (int i = 0; i < spec_.images; ++i) {
    if (!is_png(i, spec_.png_share)) {
      bytes += static_cast<double>(samples_[static_cast<std::size_t>(i)].size);
      count += 1;
    }
  }
  return count > 0 ? bytes / count : 0;
}

void ImageSet::drop_from_page_cache(Form form) const {
  if (form == Form::files) {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      images::drop_from_page_cache(file(i));
    }
    return;
  }
  for (int i = 0; i < shards(); ++i) {
    images::drop_from_page_cache(shard(form, i));
  }
}

}  // namespace fleetbench::images
