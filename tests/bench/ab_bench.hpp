// Compares a probe with a plain program that does the same work, in one process, turn by turn:
// plain, probe, plain again, in an order that changes from turn to turn, so that neither gains by
// coming first or by whom it follows. A case's ratio is the median over turns of probe / plain; its
// control is the same of the second plain run / the first. Turns are added until every control is
// within 2 %; then the ratios are judged.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "probes/support/median.hpp"

namespace fleetbench {

// Both return one figure, in the unit of the table.
struct AbCase {
  std::string name;
  std::function<double()> plain;
  std::function<double()> probe;
};

namespace ab_bench {

constexpr double kRatio = 0.03;
constexpr double kControl = 0.02;
constexpr std::size_t kFewestTurns = 40;
// 0: plain, 1: probe, 2: plain again.
constexpr std::array<std::array<std::size_t, 3>, 6> kOrders{
    {{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}}};

struct Figure {
  std::vector<double> probe;
  std::vector<double> ratios;
  std::vector<double> controls;

  void add(double first, double measured, double second) {
    probe.push_back(measured);
    ratios.push_back(measured / std::sqrt(first * second));
    controls.push_back(second / first);
  }
  bool control_holds() const {
    return controls.size() >= kFewestTurns && std::abs(median(controls) - 1) <= kControl;
  }
  bool ratio_holds() const { return std::abs(median(ratios) - 1) <= kRatio; }
};

inline void add_turn(const AbCase& compared, Figure& figure) {
  std::array<double, 3> values{};
  for (const std::size_t which : kOrders[figure.ratios.size() % kOrders.size()]) {
    values[which] = which == 1 ? compared.probe() : compared.plain();
  }
  figure.add(values[0], values[1], values[2]);
}

inline void print(const std::string& title, const std::string& unit,
                  const std::vector<std::string>& names, const std::vector<Figure>& figures) {
  fmt::print("{:<24}{:>14}{:>8}{:>9}{:>7}\n", title, unit, "ratio", "control", "turns");
  for (std::size_t i = 0; i < names.size(); ++i) {
    fmt::print("{:<24}{:>14.4g}{:>8.3f}{:>9.3f}{:>7}\n", names[i], median(figures[i].probe),
               median(figures[i].ratios), median(figures[i].controls), figures[i].ratios.size());
  }
}

// Has `turn` add to the figures until all controls hold or the time is over, prints and judges.
inline int compare(const std::string& title, const std::string& unit, double seconds,
                   const std::vector<std::string>& names,
                   const std::function<void(std::vector<Figure>&)>& turn) {
  using Clock = std::chrono::steady_clock;
  std::vector<Figure> figures(names.size());
  const auto done = [&] {
    return std::all_of(figures.begin(), figures.end(),
                       [](const auto& figure) { return figure.control_holds(); });
  };
  const auto start = Clock::now();
  do {
    turn(figures);
  } while (!done() && std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  print(title, unit, names, figures);
  if (!done()) {
    fmt::print("the control does not hold: this machine is too busy to compare anything on it\n");
    return 3;
  }
  const bool same = std::all_of(figures.begin(), figures.end(),
                                [](const auto& figure) { return figure.ratio_holds(); });
  fmt::print("{}\n", same ? "the probe reports what the plain program measures"
                          : "the probe differs from the plain program");
  return same ? 0 : 2;
}

}  // namespace ab_bench

// Prints a table and returns the exit code: 0 all ratios within 3 %, 2 one is not, 3 a control did
// not hold within `seconds`. `unit` is that of the figures.
inline int compare_turn_by_turn(const std::string& title, const std::string& unit, double seconds,
                                const std::vector<AbCase>& cases) {
  std::vector<std::string> names;
  for (const AbCase& compared : cases) {
    names.push_back(compared.name);
  }
  return ab_bench::compare(title, unit, seconds, names, [&](auto& figures) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ab_bench::add_turn(cases[i], figures[i]);
    }
  });
}

// For what depends on the memory or the disk blocks that it was given: a turn prepares plain, probe
// and plain again side by side, and then measures them in short rounds, so that they share what
// else the machine does. A turn's figure is the median of its rounds. Each measuring gives one
// figure a name.
using PreparedFigures = std::function<std::vector<double>()>;

inline int compare_side_by_side(const std::string& title, const std::string& unit, double seconds,
                                const std::vector<std::string>& names,
                                const std::function<PreparedFigures()>& prepare_plain,
                                const std::function<PreparedFigures()>& prepare_probe,
                                std::size_t rounds = ab_bench::kOrders.size()) {
  return ab_bench::compare(title, unit, seconds, names, [&](auto& figures) {
    const std::size_t turn = figures[0].ratios.size();
    std::array<PreparedFigures, 3> sides;
    for (const std::size_t which : ab_bench::kOrders[turn % ab_bench::kOrders.size()]) {
      sides[which] = which == 1 ? prepare_probe() : prepare_plain();
    }
    std::vector<std::array<std::vector<double>, 3>> values(names.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const std::size_t which : ab_bench::kOrders[(turn + round) % ab_bench::kOrders.size()]) {
        const std::vector<double> measured = sides[which]();
        for (std::size_t i = 0; i < names.size(); ++i) {
          values[i][which].push_back(measured.at(i));
        }
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      figures[i].add(median(values[i][0]), median(values[i][1]), median(values[i][2]));
    }
  });
}

}  // namespace fleetbench
