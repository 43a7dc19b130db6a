#include "measure/bench/bench_memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"
#include "measure/report/json_text.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr Column kMemoryColumns[] = {{"pages", 6},     {"thr", 3},      {"ask", 10},
                                     {"in flight", 9}, {"Mlines/s", 9}, {"min..max", 15},
                                     {"ns/line", 8},   {"GB/s", 7}};

double gb_per_s(double lines_per_s) {
  return lines_per_s * kCacheLineBytes / 1e9;
}

std::string in_flight(const MemoryPoint& point) {
  return point.ask == Ask::sequential ? "-" : fmt::to_string(point.inflight);
}

/// The best of the rows for one kind of pages and number of threads.
struct Best {
  const MemoryRow* alone = nullptr;  ///< one line at a time
  const MemoryRow* random = nullptr;
  const MemoryRow* sequential = nullptr;

  void take(const MemoryRow& row) {
    const auto better = [&row](const MemoryRow*& best) {
      if (best == nullptr || median(row.lines_per_s) > median(best->lines_per_s)) best = &row;
    };
    if (row.point.ask == Ask::sequential) return better(sequential);
    if (row.point.ask == Ask::load && row.point.inflight == 1) better(alone);
    better(random);
  }
};

}  // namespace

std::vector<MemoryPoint> MemoryAxes::points() const {
  std::vector<MemoryPoint> result;
  for (const Pages page : pages) {
    for (const std::uint32_t thread : threads) {
      for (const Ask ask : asks) {
        for (const std::uint32_t lines : inflights) {
          result.push_back({page, thread, ask, lines});
          if (ask == Ask::sequential) break;
        }
      }
    }
  }
  return result;
}

double ns_per_line(const MemoryPoint& point, double lines_per_s) {
  return lines_per_s > 0 ? 1e9 * point.threads / lines_per_s : 0;
}

void print_memory_header(const Machine& machine, std::size_t set_bytes) {
  fmt::print("{}; random lines of {}\n", describe(machine), describe_bytes(set_bytes));
  print_header(kMemoryColumns);
}

void print_memory_row(const MemoryRow& row) {
  const Summary rate(row.lines_per_s);
  const bool refused = row.point.pages == Pages::huge && row.huge_share < 0.9;
  print_row(kMemoryColumns,
            {std::string(to_string(row.point.pages)), fmt::to_string(row.point.threads),
             std::string(to_string(row.point.ask)), in_flight(row.point),
             fmt::format("{:.1f}", rate.median / 1e6),
             fmt::format("{:.1f}..{:.1f}", rate.least / 1e6, rate.most / 1e6),
             fmt::format("{:.2f}", ns_per_line(row.point, rate.median)),
             fmt::format("{:.2f}", gb_per_s(rate.median))},
            refused ? fmt::format("only {:.0f}% in huge pages", 100 * row.huge_share) : "");
}

void print_memory_summary(std::span<const MemoryRow> rows) {
  std::map<std::pair<Pages, std::uint32_t>, Best> bests;
  for (const MemoryRow& row : rows) bests[{row.point.pages, row.point.threads}].take(row);
  for (const auto& [key, best] : bests) {
    std::string line = fmt::format("{} pages, {} thread{}:", to_string(key.first), key.second,
                                   key.second == 1 ? "" : "s");
    if (best.alone != nullptr) {
      line += fmt::format(" latency {:.1f} ns;",
                          ns_per_line(best.alone->point, median(best.alone->lines_per_s)));
    }
    if (best.random != nullptr) {
      const double rate = median(best.random->lines_per_s);
      line += fmt::format(
          " random at best {:.1f} million lines/s, {:.2f} ns a line and core ({}, {}"
          " in flight);",
          rate / 1e6, ns_per_line(best.random->point, rate), to_string(best.random->point.ask),
          best.random->point.inflight);
    }
    if (best.sequential != nullptr) {
      line +=
          fmt::format(" sequential {:.1f} GB/s;", gb_per_s(median(best.sequential->lines_per_s)));
    }
    line.pop_back();
    fmt::print("{}\n", line);
  }
}

std::string memory_json(const MemoryFacts& facts, const MemoryRow& row) {
  const Summary rate(row.lines_per_s);
  nlohmann::ordered_json out{{"pages", to_string(row.point.pages)},
                             {"huge_share", row.huge_share},
                             {"threads", row.point.threads},
                             {"ask", to_string(row.point.ask)}};
  if (row.point.ask != Ask::sequential) out["inflight"] = row.point.inflight;
  out["set_bytes"] = facts.set_bytes;
  out["lines_per_s"] = rate.median;
  out["lines_per_s_min"] = rate.least;
  out["lines_per_s_max"] = rate.most;
  out["ns_per_line"] = ns_per_line(row.point, rate.median);
  out["gb_per_s"] = gb_per_s(rate.median);
  out["passes"] = row.lines_per_s.size();
  out["pass_ms"] = facts.pass_ms;
  out["processor"] = facts.machine.processor;
  out["instructions"] = facts.machine.instructions;
  out["l3_bytes"] = facts.machine.l3_bytes;
  out["commit"] = commit();
  out["host"] = describe(facts.machine);
  return json_text(out);
}

}  // namespace farvec::measure
