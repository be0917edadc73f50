// A probe that runs in the rank itself because MPI is what it measures.
#pragma once

#include <mpi.h>

#include "probes/probe.hpp"

namespace fleetbench {

// Those who take part in this slot. All of them call prepare() and measure() with the same list.
struct MpiGroup {
  MPI_Comm world = MPI_COMM_NULL;  // a duplicate of MPI_COMM_WORLD used by measurements alone
  std::vector<int> members;        // ranks of `world`; a pair has two, in the order (a, b)
  int me = 0;                      // position of the calling rank in `members`
  int tag = 0;                     // for messages on `world`; no two slots nearby share it
  int turn = 0;                    // grows from slot to slot
};

// prepare() and measure() may block for ever when a member is gone: they run in a thread that is
// abandoned at its deadline. A measurement of a pair returns values for the direction from the
// caller to its peer; a symmetric metric is returned by the first member alone.
class MpiProbe {
 public:
  virtual ~MpiProbe() = default;
  virtual ProbeInfo info() const = 0;
  virtual std::vector<MetricInfo> metrics(const Json& params) const = 0;
  virtual std::unique_ptr<Prepared> prepare(const Json& params, const Json& work,
                                            const MpiGroup& group) const = 0;
};

// In the order in which they are listed.
const std::vector<std::unique_ptr<MpiProbe>>& mpi_probes();
const MpiProbe* find_mpi_probe(std::string_view name);

std::unique_ptr<MpiProbe> make_mpi_pairs();
std::unique_ptr<MpiProbe> make_mpi_collectives();

}  // namespace fleetbench
