#include "harness/report/report.hpp"

namespace fleetbench {

std::string report_json(const Report& report) {
  return to_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fleetbench
