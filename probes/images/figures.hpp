// What image_decode reports: names, units and meanings, as its parameters ask for them.
#pragma once

#include <vector>

#include "probes/images/image_set.hpp"
#include "probes/images/pipeline.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::images {

Json params_schema();
std::vector<Form> forms_of(const Json& params);

// Depends on `params` alone.
std::vector<MetricInfo> figures(const Json& params);

// Names of figures, shared with what measures them.
std::string rate_name(std::string_view who);  // "files.images_per_s"
std::string read_name(Form form);             // "files.read"
std::string_view to_string(Stage stage);      // "decode"

}  // namespace fleetbench::images
