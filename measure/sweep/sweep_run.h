// Runs a sweep from its cells to their rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/progress.h"
#include "measure/sweep/sweep_cell.h"
#include "measure/sweep/sweep_file.h"
#include "measure/sweep/sweep_progress.h"
#include "measure/sweep/sweep_report.h"

namespace farvec::measure {

/// Says how a sweep runs.
struct SweepManner {
  bool quiet = false;  ///< whether nothing is written to stderr
  bool table = true;   ///< whether rows are printed on stdout as they come
  Interruption interrupted = {};
};

/// Measures cells group by group, and prints and writes each one's row as soon as its group is
/// done. Everything that it is given must outlive it.
class SweepRun {
 public:
  /// Keeps those of the cells that the file does not have.
  SweepRun(std::vector<std::unique_ptr<SweepCell>> cells, const ReportContext& context,
           SweepFile& file, const SweepManner& manner);

  /// Says on stderr how long it will take, then measures. Returns how many cells ran or had their
  /// row already. Throws WorkInterrupted when it is interrupted, Error when a row cannot be
  /// written.
  std::size_t run();
  /// Returns why the first cell that could not run could not; empty: all could.
  const std::string& first_failure() const { return first_failure_; }

 private:
  using Group = std::span<const std::unique_ptr<SweepCell>>;
  std::vector<Group> groups() const;
  SweepForecast forecast();
  void measure(Group group);
  static void bound_by_computation(Group group);
  template <typename Step>
  void attempt(SweepCell& cell, Step step);
  void report(SweepCell& cell);
  bool interrupted() const { return asked_to_end(manner_.interrupted); }
  [[noreturn]] void stop() const;

  const ReportContext& context_;
  SweepFile& file_;
  const SweepManner& manner_;
  std::vector<std::unique_ptr<SweepCell>> cells_;
  std::size_t present_ = 0;  ///< cells whose rows were there
  std::size_t ran_ = 0;
  std::size_t reported_ = 0;
  std::string first_failure_;
};

}  // namespace farvec::measure
