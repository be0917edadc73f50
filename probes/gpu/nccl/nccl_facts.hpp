// What the lines of NCCL's log say of how it works here. PURE.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::gpu::nccl {

// Lines of NCCL 2.18 to 2.28 at NCCL_DEBUG=INFO; what is not understood is passed over.
struct LogFacts {
  std::string network;               // "IB", "Socket", "AWS Libfabric"; empty: not told
  std::set<std::string> transports;  // "P2P/CUMEM", "SHM/direct", "NET/IB/GDRDMA"
  std::optional<int> collective_channels;
  std::optional<int> nvls_channels;
  std::optional<int> p2p_channels;
  // Of a collective ("all_reduce") by the bytes of a call: "RING/SIMPLE". Told by rank 0 alone.
  std::map<std::string, std::map<std::size_t, std::string>> algorithms;
};

LogFacts log_facts(std::string_view text);

// What was measured: by collective and by the bytes that a rank passes to the call, which NCCL's
// log has, the size as nccl-tests counts it.
using MeasuredCalls = std::map<std::string, std::map<std::size_t, std::size_t>>;

// "TREE/LL to 32K, RING/SIMPLE to 1G": the largest size of each stretch. Calls that were not
// measured are those that ranks make to agree with each other.
std::string algorithms_text(const std::map<std::size_t, std::string>& by_bytes,
                            const std::map<std::size_t, std::size_t>& measured);

// As it travels between ranks, see node_facts().
std::string to_text(const LogFacts& facts, const MeasuredCalls& measured);

// What is told of a node: `texts` are to_text() of the ranks on it; of each key the first one's
// counts, but transports are those of all. What is no such text is passed over. The keys:
// "network", "transports", "collective_channels", "nvls_channels", "p2p_channels", "algorithms"
// ({"all_reduce": "TREE/LL to 32K"…}); absent where nobody told.
Json node_facts(const std::vector<std::string>& texts);

}  // namespace fleetbench::gpu::nccl
