#include "probes/gpu/nccl/place.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace fleetbench::gpu::nccl {

std::string Place::name_of(std::size_t rank) const {
  const RankPlace& place = ranks.at(rank);
  return fmt::format("rank {} of {} ({} {})", rank, ranks.size(), place.node, place.device);
}

std::vector<std::size_t> Place::clock_owners() const {
  std::map<std::string, std::size_t> first_of;
  std::vector<std::size_t> owners;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    owners.push_back(first_of.try_emplace(ranks[rank].node, rank).first->second);
  }
  return owners;
}

Place place_from(const Json& work) {
  if (!work.is_object() || !work.contains("place") || !work.at("place").contains("ranks")) {
    throw std::runtime_error("nobody says which GPUs measure with each other (work.place.ranks)");
  }
  const Json& given = work.at("place");
  Place place{.index = given.at("index").get<std::size_t>(), .ranks = {}};
  for (const Json& rank : given.at("ranks")) {
    place.ranks.push_back(
        {rank.at("node").get<std::string>(), rank.at("device").get<std::string>()});
  }
  if (place.index >= place.ranks.size()) {
    throw std::runtime_error(fmt::format("work.place.index is {}, and there are {} ranks",
                                         place.index, place.ranks.size()));
  }
  return place;
}

}  // namespace fleetbench::gpu::nccl
