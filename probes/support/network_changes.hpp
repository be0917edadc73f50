// What the network ports of a machine did from one reading to the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/support/evidence_counters.hpp"
#include "probes/support/network_ports.hpp"

namespace fleetbench {

// How much waiting, pausing or marking there was, against what the port carried, so that long
// measurements compare with short ones:
//   port_xmit_wait       ticks of waiting to each four bytes sent
//   pause_received, congestion_slowed     to each packet sent, which they hold back
//   pause_sent, congestion_marked         to each packet received, which they are about
struct NetworkChanges {
  Counters rises;  // as evidence_counters.hpp has them; places: "eth0 rx_errors"
  std::map<std::string, std::map<std::string, double>> rates;  // by kind, by port
  // The lower of both readings, of ports with hardware.
  std::map<std::string, double> gbit;
  std::map<std::string, double> lanes;
  std::vector<std::string>
      gone;  // ports with hardware that were there before, and are not any more
};

// A port without hardware counts where it carried at least a tenth of what all ports did: the one
// that the measurement went over, and none of the hundreds that a host of containers has. A counter
// that fell was reset or ran over, and says nothing; no rate is told of fewer than 1,000 packets or
// words.
NetworkChanges changes_between(const NetworkPorts& before, const NetworkPorts& after);

}  // namespace fleetbench
