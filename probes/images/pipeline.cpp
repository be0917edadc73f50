#include "probes/images/pipeline.hpp"

#include <algorithm>
#include <numeric>

namespace fleetbench::images {

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  for (std::size_t i = 0; i < kStages; ++i) {
    seconds[i] += other.seconds[i];
  }
  images += other.images;
  return *this;
}

double StageTimes::per_image(Stage stage) const {
  return images == 0 ? 0 : (*this)[stage] / static_cast<double>(images);
}

double StageTimes::idle_share() const {
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return all > 0 ? (*this)[Stage::idle] / all : 0;
}

Pipeline::Pipeline(const ImageSet& set, std::unique_ptr<SampleSource> source, int crop)
    : set_(set),
      source_(std::move(source)),
      crop_(crop),
      resizer_(crop),
      tensor_(std::size_t{3} * static_cast<std::size_t>(crop) * static_cast<std::size_t>(crop)) {}

std::size_t Pipeline::run(std::uint64_t position, std::span<float> place, StageClock& clock) {
  Random random(position);
  const auto origin = source_->read(position, bytes_);
  clock.end_of(Stage::read);
  decode_named(decoder_, bytes_, picture_, origin.path, set_.samples()[origin.image]);
  clock.end_of(Stage::decode);
  const auto rgb = resizer_.resize(picture_, random_crop(random, picture_.width, picture_.height));
  clock.end_of(Stage::crop);
  normalise(rgb, crop_, random.below(2) == 1, tensor_);
  clock.end_of(Stage::normalise);
  std::copy(tensor_.begin(), tensor_.end(), place.begin());
  clock.end_of(Stage::collate);
  return origin.image;
}

}  // namespace fleetbench::images
