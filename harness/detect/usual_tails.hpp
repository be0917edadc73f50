// Which tail the scores of healthy subjects have, learnt from those of the run.
#pragma once

#include <vector>

#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// What a table's rows are, as far as their tests share a part of the error.
enum class Scope { node, device, link, shared };
Scope scope_of(const Table& table);

// Sets the tail of each table: the one that fits its scores, of which the tail of all tables of its
// kind is the expectation.
void set_tails(std::vector<Judged>& tables);

}  // namespace fleetbench::detect
