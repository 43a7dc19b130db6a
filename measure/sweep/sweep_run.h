// Runs a sweep from its cells to their rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "measure/report/machine.h"
#include "measure/sweep/sweep_cell.h"
#include "measure/sweep/sweep_file.h"
#include "measure/sweep/sweep_progress.h"
#include "measure/sweep/sweep_questions.h"

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
  SweepRun(std::vector<std::unique_ptr<SweepCell>> cells, const SweepQueries& queries,
           SweepFile& file, const SweepManner& manner);

  /// Says on stderr how long it will take, then measures. Throws WorkInterrupted when it is
  /// interrupted, Error when a row cannot be written, or when no cell could run or had its row.
  void run();

 private:
  using Group = std::span<const std::unique_ptr<SweepCell>>;
  std::vector<Group> groups() const;
  SweepForecast forecast();
  void say_what_comes(const SweepForecast& forecast) const;
  void measure(Group group);
  static void bound(Group group);
  template <typename Step>
  void attempt(SweepCell& cell, Step step);
  std::string json_of(const SweepCell& cell) const;
  static void print(const SweepCell& cell);
  void report(const SweepCell& cell);
  bool interrupted() const { return asked_to_end(manner_.interrupted); }
  [[noreturn]] void stop() const;

  const SweepQueries& queries_;
  SweepFile& file_;
  const SweepManner& manner_;
  std::vector<std::unique_ptr<SweepCell>> cells_;
  std::size_t present_ = 0;  ///< cells whose rows were there
  std::size_t ran_ = 0;
  std::size_t reported_ = 0;
  std::string first_failure_;
  const std::string host_ = host_description();
};

}  // namespace farvec::measure
