// Shows what `farvec bench memory` measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/bench/memory_load.h"
#include "measure/report/machine.h"

namespace farvec::measure {

/// Holds one combination and the lines per second of its passes.
struct MemoryRow {
  MemoryPoint point;
  double huge_share = 0;  ///< share of the memory that was read which is in huge pages
  std::vector<double> lines_per_s = {};
};

/// Holds what a user may vary. points() is the full product, with lines in flight varying fastest;
/// `sequential` has none to vary.
struct MemoryAxes {
  std::vector<Pages> pages;
  std::vector<std::uint32_t> threads;
  std::vector<Ask> asks;
  std::vector<std::uint32_t> inflights;

  std::vector<MemoryPoint> points() const;
};

/// Returns the nanoseconds from one line to the next in one of the threads.
double ns_per_line(const MemoryPoint& point, double lines_per_s);

/// Prints processor, instructions, L3, what is read, and the names of the columns.
void print_memory_header(const Machine& machine, std::size_t set_bytes);
void print_memory_row(const MemoryRow& row);
/// Prints latency, the most lines and bandwidth for every kind of pages and number of threads.
void print_memory_summary(std::span<const MemoryRow> rows);

/// Holds what all rows share.
struct MemoryFacts {
  Machine machine;
  std::size_t set_bytes = 0;
  double pass_ms = 0;
};
/// Returns one JSON object without line breaks.
std::string memory_json(const MemoryFacts& facts, const MemoryRow& row);

}  // namespace farvec::measure
