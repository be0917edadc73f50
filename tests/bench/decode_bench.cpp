// What do queue, threads and pool of image_decode cost?
//
// decode_bench [SECONDS]. In one process, turn by turn: bare loop, probe, bare loop again, over the
// same images in the same order with the same crops. The bare loop reads a file, calls
// libjpeg-turbo, crops and resizes, flips, normalises and copies the result into a batch; it has no
// queue, no consumer and no clock inside. It shares the resize and normalise functions with the
// probe, since not those are compared. All images are JPEG, one file each, in the page cache.
//
//   one_worker  the probe's one worker against one bare loop. Must be within 3 %.
//   all_cores   the probe's workers on all cores against as many bare loops as there are cores, at
//               the same time, that know nothing of each other: `cores` times what one core
//               does while the others are as busy. One core alone would be no measure for that:
//               it has a higher clock, and all of the last cache and of the memory's bandwidth. A
//               loop that is through goes on until the last one is. Must be at least 0.95.
//
// Turns are added until the controls (second bare loop / first) are within 2 %, ten minutes at
// most. Exit code: 0 both hold, 2 one does not, 3 a control never did.
#include <fcntl.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "probes/images/image_set.hpp"
#include "probes/images/sample_source.hpp"
#include "probes/images/transform.hpp"
#include "probes/images/verify.hpp"
#include "probes/registry.hpp"
#include "probes/support/usable_cores.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/ab_bench.hpp"

namespace fleetbench {
namespace {

using namespace images;
using Clock = std::chrono::steady_clock;

constexpr double kAllCores = 0.95;
constexpr int kImages = 128;
constexpr int kCrop = 224;
constexpr int kBatch = 8;
constexpr int kWindows = 5;  // as the probe has them
constexpr int kBatchesPerWindow = 2;

// Loop `number` of `loops`, which share the order as workers do: batch after batch in turn.
class BareLoop {
 public:
  BareLoop(const ImageSet& set, int number, int loops)
      : set_(set),
        order_(set),
        next_batch_(static_cast<std::uint64_t>(number)),
        loops_(static_cast<std::uint64_t>(loops)),
        resizer_(kCrop),
        image_(std::size_t{3} * kCrop * kCrop),
        batch_(image_.size() * kBatch) {}
  ~BareLoop() { tjDestroy(jpeg_); }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  void make_batch() {
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      const std::uint64_t position = next_batch_ * kBatch + i;
      Random random(position);
      read(set_.file(order_.image(position)).c_str());
      decode();
      const auto rgb =
          resizer_.resize(picture_, random_crop(random, picture_.width, picture_.height));
      normalise(rgb, kCrop, random.below(2) == 1, image_);
      std::copy(image_.begin(), image_.end(),
                batch_.begin() + static_cast<std::ptrdiff_t>(i * image_.size()));
    }
    next_batch_ += loops_;
  }

  // Images/s of the median window.
  double rate() {
    std::vector<double> windows;
    for (int window = 0; window < kWindows; ++window) {
      const auto start = Clock::now();
      for (int i = 0; i < kBatchesPerWindow; ++i) {
        make_batch();
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      windows.push_back(kBatchesPerWindow * kBatch / seconds);
    }
    return median(windows);
  }

 private:
  void read(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
      throw std::runtime_error(path);
    }
    bytes_.resize(static_cast<std::size_t>(status.st_size));
    if (::read(file, bytes_.data(), bytes_.size()) != status.st_size) {
      throw std::runtime_error(path);
    }
    close(file);
  }

  void decode() {
    int subsampling = 0;
    int colours = 0;
    int width = 0;
    int height = 0;
    if (tjDecompressHeader3(jpeg_, bytes_.data(), bytes_.size(), &width, &height, &subsampling,
                            &colours) != 0) {
      throw std::runtime_error(tjGetErrorStr2(jpeg_));
    }
    picture_.resize(width, height);
    if (tjDecompress2(jpeg_, bytes_.data(), bytes_.size(), picture_.rgb.data(), width, 0, height,
                      TJPF_RGB, TJFLAG_ACCURATEDCT) != 0) {
      throw std::runtime_error(tjGetErrorStr2(jpeg_));
    }
  }

  const ImageSet& set_;
  Order order_;
  std::uint64_t next_batch_;
  std::uint64_t loops_;
  tjhandle jpeg_ = tjInitDecompress();
  Resizer resizer_;
  std::vector<unsigned char> bytes_;
  Picture picture_;
  std::vector<float> image_;
  std::vector<float> batch_;
};

// Images/s of `count` bare loops at the same time, together.
double bare_rate(const ImageSet& set, int count) {
  std::vector<double> rates(static_cast<std::size_t>(count));
  std::atomic<int> through = 0;
  std::barrier start(count);
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < count; ++number) {
      threads.emplace_back([&, number] {
        BareLoop loop(set, number, count);
        loop.make_batch();  // as each worker makes one before it is timed
        start.arrive_and_wait();
        rates[static_cast<std::size_t>(number)] = loop.rate();
        ++through;
        while (through < count) {
          loop.make_batch();
        }
      });
    }
  }
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

struct Rates {
  double all;
  double one;
};

Rates plain_rates(const ImageSet& set, int cores) {
  return {.all = bare_rate(set, cores), .one = bare_rate(set, 1)};
}

Rates probe_rates(const std::vector<MetricInfo>& metrics, Prepared& prepared) {
  const auto measurement = prepared.measure();
  const auto value = [&](const char* name) {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const auto& metric) { return metric.name == name; });
    return measurement.values.at(static_cast<std::size_t>(found - metrics.begin())).value();
  };
  return {.all = value("files.images_per_s"), .one = value("one_worker.images_per_s")};
}

int judge(const std::vector<ab_bench::Figure>& figures) {
  ab_bench::print("image_decode", "images/s", {{.name = "one_worker"}, {.name = "all_cores"}},
                  figures);
  if (!figures[0].control_holds() || !figures[1].control_holds()) {
    fmt::print("the control does not hold: this machine is too busy to compare anything on it\n");
    return 3;
  }
  const bool holds = figures[0].ratio_holds() && median(figures[1].ratios) >= kAllCores;
  fmt::print("{}\n", holds ? "the loader costs no more than it may"
                           : "the loader costs too much, or measures something else");
  return holds ? 0 : 2;
}

int run(double seconds) {
  const auto probe = make_image_decode();
  const Json params = with_defaults({{"forms", {"files"}},
                                     {"images", kImages},
                                     {"png_share", 0},
                                     {"batch", kBatch},
                                     {"crop", kCrop}},
                                    probe->info().params_schema);
  const int cores = usable_cores();
  const ImageSet set({.forms = {Form::files}, .images = kImages, .share_of_free = 0.05}, cores);
  verify(set, cores);
  const auto prepared =
      probe->prepare(params, {{"batches_per_worker", kBatchesPerWindow}, {"workers", cores}});
  const auto metrics = probe->metrics(params);
  std::vector<ab_bench::Figure> figures(2);
  const auto start = Clock::now();
  const auto lasted = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  do {
    const Rates first = plain_rates(set, cores);
    const Rates measured = probe_rates(metrics, *prepared);
    const Rates second = plain_rates(set, cores);
    figures[0].add(first.one, measured.one, second.one);
    figures[1].add(first.all, measured.all, second.all);
  } while (lasted() < seconds && !(figures[0].control_holds() && figures[1].control_holds()));
  return judge(figures);
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) { return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600); }
