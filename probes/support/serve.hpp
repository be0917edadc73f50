// The worker's side of the pipe: reads commands, one JSON object a line, and answers each with one.
//
//   {"cmd":"catalog"}                                → {"version", "probes": [ProbeInfo…]}
//   {"cmd":"metrics","probe","params"}               → {"metrics": [MetricInfo…]}
//   {"cmd":"calibrate","probe","params"}             → {"work": {…}}
//   {"cmd":"prepare","probe","params","work","build"} → {"invitation"}
//   {"cmd":"measure","invitation"}                   → {"values", "detail", "measure_s"}
//   {"cmd":"release"}                                → {}
//
// The answer to `prepare` has an invitation only where one is to be handed on; `measure` brings it
// to each of those that join each other (see Prepared), and to nobody else. Every answer has
// "status" (see Status) and, unless that is `ok`, "reason" and perhaps "detail". One probe is
// prepared at a time. Ends when the pipe closes, and after an answer with "spent": true.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "probes/probe.hpp"

namespace fleetbench {

// Serves `probes` on standard input and output. What else is written to standard output goes to
// standard error, where it cannot be taken for an answer. `is_spent` is asked after a command that
// failed or timed out: whether this process can measure no more, though another could. Returns the
// exit code of the worker.
int serve(
    const std::vector<std::unique_ptr<Probe>>& probes,
    const std::function<bool()>& is_spent = [] { return false; });

// Makes this process end with the one that started it (pid `parent`) and the first choice of the
// kernel's out-of-memory killer. Call first thing. Ends the process where the parent is gone.
void bind_to_parent(int parent);

}  // namespace fleetbench
