// What a worker does with one image, with the time that each stage takes.
#pragma once

#include <array>
#include <chrono>
#include <span>

#include "probes/images/sample_source.hpp"
#include "probes/images/transform.hpp"

namespace fleetbench::images {

enum class Stage { read, decode, crop, normalise, collate, idle };
constexpr std::size_t kStages = 6;

// Seconds that workers spent in each stage, and for how many images. `idle` is waiting for room in
// the queue.
struct StageTimes {
  std::array<double, kStages> seconds{};
  std::uint64_t images = 0;

  double& operator[](Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  double operator[](Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  StageTimes& operator+=(const StageTimes& other);
  double per_image(Stage stage) const;  // 0 where there were no images
  double idle_share() const;
};

// Adds the time since it was last asked to a stage.
class StageClock {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StageClock(StageTimes& times) : times_(times) {}
  void end_of(Stage stage) {
    const auto now = Clock::now();
    times_[stage] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  void count_image() { ++times_.images; }

 private:
  StageTimes& times_;
  Clock::time_point last_ = Clock::now();
};

// One thread's. What is read, cropped where and flipped depends on `position` alone, so the same
// images cost the same on every node.
class Pipeline {
 public:
  Pipeline(const ImageSet& set, std::unique_ptr<SampleSource> source, int crop);

  // Values of one image in a batch.
  std::size_t image_values() const { return tensor_.size(); }
  // Reads the image, makes it a tensor and copies that to `place`, as collating a batch does;
  // returns its number in the set. Throws std::runtime_error naming the file.
  std::size_t run(std::uint64_t position, std::span<float> place, StageClock& clock);

 private:
  const ImageSet& set_;
  std::unique_ptr<SampleSource> source_;
  int crop_;
  Decoder decoder_;
  Resizer resizer_;
  Bytes bytes_;
  Picture picture_;
  std::vector<float> tensor_;
};

}  // namespace fleetbench::images
