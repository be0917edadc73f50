// The interface of a probe. A probe measures one thing on one subject and returns values; it never
// judges them. To add one: write probes/NAME.cpp with a class derived from Probe and a factory,
// and add one line to probes/registry.cpp. See docs/adding-a-probe.md.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Who takes part in one slot of a probe.
enum class Participants {
  node,   // each node by itself
  pair,   // two nodes with each other
  group,  // all nodes together
};

std::string_view to_string(Participants participants);
Participants parse_participants(std::string_view text);

struct ProbeInfo {
  std::string name;
  std::string summary;  // one line for `fleetbench list probes`
  Layer layer = Layer::host;
  Participants participants = Participants::node;
  // JSON Schema (draft 7) of the parameters, an object with "properties", each with "default" and
  // "description", and "additionalProperties": false.
  Json params_schema;
  bool facts_only = false;  // measures nothing: run once, its detail describes the node
  // Of a probe of GPUs: one process measures all of a node's at once, told which by `work`. It has
  // no values of its own; its detail's "devices" have, see probes/gpu/registry.hpp.
  bool all_gpus = false;
  // Of a probe of GPUs: pairs or groups of them measure with each other, on one node or many, each
  // in its own process. Its processes join each other by an invitation: see Prepared::invitation.
  bool joins_workers = false;
  int method = 1;  // goes up when figures of older versions can no longer be compared
  std::vector<std::string>
      programs;  // that it runs and that must be in $PATH, as Debian calls them
};

void to_json(Json& json, const ProbeInfo& info);
void from_json(const Json& json, ProbeInfo& info);

struct Measurement {
  Values values;  // one per metric, in the order of metrics()
  // What explains them, kept in the journal. "facts" (an object of scalars) are compared between
  // the nodes as their inventories are, since they should be alike. Parts that this node cannot
  // measure and others may are told to the reader from "not_measured": [{"what": …, "reason": …}].
  Json detail;
};

// Throws std::runtime_error where a value is no finite number: it must not pass for an absent one.
void check_values(const Measurement& measurement);

// There are no values (status `failed`, unless it is one of those below). `detail` is what is known
// all the same: kept in the journal beside the reason.
struct NoMeasurement : std::runtime_error {
  explicit NoMeasurement(const std::string& what, Json known = Json())
      : std::runtime_error(what), detail(std::move(known)) {}
  Json detail;
};

// The thing that was measured works but gives a false result (status `wrong`).
struct WrongResult : NoMeasurement {
  using NoMeasurement::NoMeasurement;
};

// This machine cannot measure it, and that is no fault (status `skipped`).
struct NotAvailable : NoMeasurement {
  using NoMeasurement::NoMeasurement;
};

// What it waits for does not answer; the text names it (status `timeout`).
struct TimedOut : NoMeasurement {
  using NoMeasurement::NoMeasurement;
};

// Of any exception of a probe.
Status status_of(const std::exception& error);
// Null where the exception carries none.
Json detail_of(const std::exception& error);

// Everything is allocated, checked and warm; destruction frees all of it.
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Of the first of those that join each other: what the others need to know to find it, in letters
  // that JSON can carry; asked once, after prepare(). Empty: there is none to be handed on.
  virtual std::string invitation() { return {}; }
  // What the first one's invitation() was, on all of them the first included; before measure().
  virtual void accept(const std::string& /*invitation*/) {}
  // The only timed part. Throws WrongResult, NotAvailable, TimedOut, or any std::exception
  // (`failed`).
  virtual Measurement measure() = 0;
};

// `params` always holds every key of params_schema, defaults filled in and validated.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual ProbeInfo info() const = 0;
  virtual std::vector<MetricInfo> metrics(const Json& params) const = 0;
  // How much work a measurement does (iteration counts), found by trying, on one node, once; the
  // whole fleet then does the same. Empty where `params` says it all.
  virtual Json calibrate(const Json& /*params*/) const { return Json::object(); }
  // `work` is what calibrate gave. Of a group it also has "place": {"index": of this node among
  // those that measure together, "nodes": [their names]}. Where workers join each other the place
  // is {"index", "ranks": [{"node", "device"}…]}: of each of them the node and the label of the
  // GPU.
  virtual std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const = 0;
};

}  // namespace fleetbench
