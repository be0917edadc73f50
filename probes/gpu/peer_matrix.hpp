// What copies between the GPUs of a node gave, and what that says of each of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fleetbench::gpu {

// A GPU's place among those that are measured.
using Place = std::size_t;

enum class Way { read, write };

// One GPU's copy: it reads from another's memory, or writes to it.
struct PeerCopy {
  Way way = Way::read;
  Place by = 0;
  Place other = 0;

  // Where the data go.
  Place source() const { return way == Way::read ? other : by; }
  Place target() const { return way == Way::read ? by : other; }
};

struct PeerRate {
  PeerCopy copy;
  double bytes_per_s = 0;
};

// The copy of a GPU that is slowest for its own sake: where the other GPU is slower with everybody
// else than this one is, by a factor, the copy's rate is taken times that factor. So one slow path
// is the lowest of both its ends, and a GPU all of whose paths are slow is that of no other.
struct LowestRate {
  PeerRate rate;           // as it was measured
  double bytes_per_s = 0;  // times that factor
};

// Of one GPU's own copies; absent where it has none. A path from one GPU to another is in the
// figures of both: one writes, the other reads.
struct PeerFigures {
  std::optional<double> read;   // median over its peers, B/s
  std::optional<double> write;  // likewise
  std::optional<LowestRate> lowest;
};

// The order of nvbandwidth's matrices: by row, reads before writes.
std::vector<PeerCopy> all_copies(std::size_t gpus);

PeerFigures figures_of(const std::vector<PeerRate>& rates, Place gpu);

// Who is to blame for copies that gave false data. Both ends of each, but not one whose other end
// has a part in more of them: a GPU that damages what it sends makes false copies with everybody.
std::vector<Place> blamed_for(const std::vector<PeerCopy>& false_copies, std::size_t gpus);

}  // namespace fleetbench::gpu
