#include "probes/gpu/peer_matrix.hpp"

#include <algorithm>

#include "probes/support/median.hpp"

namespace fleetbench::gpu {
namespace {

template <typename Which>
std::optional<double> median_where(const std::vector<PeerRate>& rates, Which which) {
  std::vector<double> chosen;
  for (const PeerRate& rate : rates) {
    if (which(rate.copy)) {
      chosen.push_back(rate.bytes_per_s);
    }
  }
  return chosen.empty() ? std::nullopt : std::optional(median(std::move(chosen)));
}

std::optional<double> own_median(const std::vector<PeerRate>& rates, Place gpu, Way way) {
  return median_where(rates,
                      [&](const PeerCopy& copy) { return copy.by == gpu && copy.way == way; });
}

// How much slower the other end of `own` is with everybody else than the one that made it: at least
// 1. Copies of the same kind that go the same way through either.
double slowness_of_other(const std::vector<PeerRate>& rates, const PeerCopy& own) {
  const auto with_others = median_where(rates, [&](const PeerCopy& copy) {
    return copy.way == own.way && copy.by == own.by && copy.other != own.other;
  });
  const auto of_other = median_where(rates, [&](const PeerCopy& copy) {
    return copy.way == own.way && copy.other == own.other && copy.by != own.by;
  });
  return with_others && of_other ? std::max(1.0, *with_others / *of_other) : 1;
}

}  // namespace

std::vector<PeerCopy> all_copies(std::size_t gpus) {
  std::vector<PeerCopy> copies;
  for (const Way way : {Way::read, Way::write}) {
    for (Place by = 0; by < gpus; ++by) {
      for (Place other = 0; other < gpus; ++other) {
        if (by != other) {
          copies.push_back({way, by, other});
        }
      }
    }
  }
  return copies;
}

PeerFigures figures_of(const std::vector<PeerRate>& rates, Place gpu) {
  PeerFigures figures{.read = own_median(rates, gpu, Way::read),
                      .write = own_median(rates, gpu, Way::write),
                      .lowest = std::nullopt};
  for (const PeerRate& rate : rates) {
    if (rate.copy.by != gpu) {
      continue;
    }
    const double bytes_per_s = rate.bytes_per_s * slowness_of_other(rates, rate.copy);
    if (!figures.lowest || bytes_per_s < figures.lowest->bytes_per_s) {
      figures.lowest = LowestRate{rate, bytes_per_s};
    }
  }
  return figures;
}

std::vector<Place> blamed_for(const std::vector<PeerCopy>& false_copies, std::size_t gpus) {
  std::vector<std::size_t> parts(gpus);
  for (const PeerCopy& copy : false_copies) {
    ++parts[copy.by];
    ++parts[copy.other];
  }
  std::vector<bool> is_blamed(gpus);
  for (const PeerCopy& copy : false_copies) {
    is_blamed[copy.by] = is_blamed[copy.by] || parts[copy.by] >= parts[copy.other];
    is_blamed[copy.other] = is_blamed[copy.other] || parts[copy.other] >= parts[copy.by];
  }
  std::vector<Place> blamed;
  for (Place gpu = 0; gpu < gpus; ++gpu) {
    if (is_blamed[gpu]) {
      blamed.push_back(gpu);
    }
  }
  return blamed;
}

}  // namespace fleetbench::gpu
