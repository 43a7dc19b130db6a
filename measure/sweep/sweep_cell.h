// Shows one combination of a sweep as what runs the sweep sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/report/table.h"

namespace farvec::measure {

/// Call prepare() once, then measure_pass() with 0, 1, ...; every call may throw what its searches
/// do, and ends early when it is interrupted.
class SweepCell {
 public:
  virtual ~SweepCell() = default;

  /// Returns a number that is the same for the cells that are measured in turn, pass by pass.
  virtual std::size_t group() const = 0;
  /// Returns all that its row was asked for: a combination that has a row with the same values is
  /// not measured again. Values that the row does not have are null.
  virtual nlohmann::ordered_json parameters() const = 0;

  virtual void prepare() = 0;
  virtual void measure_pass(std::uint32_t pass) = 0;
  /// Frees what searches need, after the last pass.
  virtual void release() {}

  /// Returns a text that is the same for cells whose searches take as long for the same work().
  virtual std::string pace() const = 0;
  /// Returns how much work one search does: the number that it grows with, candidates or clusters.
  virtual double work() const = 0;
  /// Returns the seconds of a search, with all cores together, from a first short run of its own.
  virtual double probe_seconds() = 0;
  /// Returns the seconds that the cell takes when a search takes `search_seconds`.
  virtual double seconds(double search_seconds) const = 0;

  /// Returns the rates, pass by pass, that bound those of the other cells of its group; null: they
  /// bound none.
  virtual const std::vector<double>* bounding_rates() const { return nullptr; }
  /// Compares the rates of its passes with these.
  virtual void bound_by(const std::vector<double>&) {}

  virtual std::span<const Column> columns() const = 0;
  /// Returns the first cells of its row: all of them unless it failed.
  virtual std::vector<std::string> table_cells() const = 0;
  /// Adds to the parameters what was measured, unless it failed.
  virtual void add_facts(nlohmann::ordered_json& row) const = 0;

  void fail(std::string why) {
    failure_ = std::move(why);
    release();
  }
  bool failed() const { return !failure_.empty(); }
  /// Returns why it cannot run; empty: it can.
  const std::string& failure() const { return failure_; }

 private:
  std::string failure_;
};

}  // namespace farvec::measure
