// Tables that follow from measured ones, and are judged like them.
#pragma once

#include <vector>

#include "harness/detect/judge.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// What a node's devices have in common: the median over them in each pass. One table for each of
// devices of which some node has several.
std::vector<Table> tables_of_nodes(const std::vector<Table>& tables);

// How much a subject's passes vary: x = ln(p95 / p50) of its values, one value a subject. Without
// the worst quarter of the passes at least half of it must remain, else it counts for twice of what
// remains: one bad pass is no property of a subject. Subjects of at least 8
// passes, where there are eight of them and they are at least half.
std::vector<Table> tables_of_jitter(const std::vector<Table>& tables);

// The average of a layer's metrics, in each pass, with weights 1/spread²: the quietest metric
// decides how small a fault can be seen. `judged` are tables of single metrics. One table for each
// layer and kind of subject that has at least two metrics and five peers: of fewer, weights cannot
// be learnt. Only as measured.
std::vector<Table> tables_of_layers(const std::vector<Judged>& judged);

// Whether a table is one that tables_of_layers() averages into that of a layer and kind of subject.
bool averages(const Table& layer, const Table& metric);

}  // namespace fleetbench::detect
