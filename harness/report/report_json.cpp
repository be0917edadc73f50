#include "harness/report/escape.hpp"
#include "harness/report/report.hpp"

namespace fleetbench {

std::string report_json(const Report& report) {
  return report::json_text(to_json(report), 2) + "\n";
}

}  // namespace fleetbench
