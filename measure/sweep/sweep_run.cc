#include "measure/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "base/error.h"
#include "measure/report/statistics.h"

namespace farvec::measure {

SweepRun::SweepRun(std::vector<std::unique_ptr<SweepCell>> cells, const ReportContext& context,
                   SweepFile& file, const SweepManner& manner)
    : context_(context), file_(file), manner_(manner) {
  for (auto& cell : cells) {
    if (file.has(sweep_parameters(context, cell->point(), cell->tier().name()))) {
      ++present_;
    } else {
      cells_.push_back(std::move(cell));
    }
  }
}

std::vector<SweepRun::Group> SweepRun::groups() const {
  std::vector<Group> groups;
  for (std::size_t begin = 0; begin < cells_.size();) {
    std::size_t end = begin + 1;
    while (end < cells_.size() && cells_[end]->point().group == cells_[begin]->point().group) ++end;
    groups.emplace_back(cells_.data() + begin, end - begin);
    begin = end;
  }
  return groups;
}

/// Probes the first cell of each tier and number of slots (of all threads together). The other
/// cells are taken to be slower in proportion to the work of their searches.
SweepForecast SweepRun::forecast() {
  std::map<std::pair<std::size_t, std::uint32_t>, double> seconds_of_work;
  SweepForecast forecast;
  for (const auto& cell : cells_) {
    const SweepPoint& point = cell->point();
    const auto [entry, fresh] =
        seconds_of_work.try_emplace({point.tier, point.slots * point.threads}, 0);
    if (fresh) {
      try {
        entry->second = cell->probe_seconds() / search_work(*cell);
      } catch (const std::exception&) {
        // Its row will say why.
      }
    }
    if (interrupted()) stop();
    forecast.cell_seconds.push_back(
        cell_seconds(*cell, entry->second * search_work(*cell), context_.passes, context_.pass_ms));
  }
  return forecast;
}

std::size_t SweepRun::run() {
  if (present_ > 0 && !manner_.quiet) {
    fmt::print(stderr, "{} of {} combinations are there already\n", present_,
               present_ + cells_.size());
  }
  if (cells_.empty()) return present_;
  const SweepForecast foretold = forecast();
  if (!manner_.quiet) {
    fmt::print(stderr, "{} combinations of {} queries, {} passes of {} ms: about {}\n",
               cells_.size(), context_.queries.end - context_.queries.begin, context_.passes,
               context_.pass_ms, describe_seconds(foretold.sum_from(0)));
  }
  SweepProgress progress(foretold, manner_.quiet);
  if (manner_.table) print_sweep_header(context_.manifest);
  for (const Group group : groups()) {
    progress.show(reported_);
    measure(group);
    progress.clear();
    if (interrupted()) stop();
    for (const auto& cell : group) report(*cell);
  }
  return present_ + ran_;
}

template <typename Step>
void SweepRun::attempt(SweepCell& cell, Step step) {
  std::string& failure = cell.samples().failure;
  if (!failure.empty() || interrupted()) return;
  try {
    step(cell);
  } catch (const std::exception& error) {
    failure = error.what();
    cell.release();
  }
}

void SweepRun::measure(Group group) {
  for (const auto& cell : group) {
    attempt(*cell, [](SweepCell& one) { one.prepare(); });
  }
  for (std::uint32_t pass = 0; pass < context_.passes; ++pass) {
    for (const auto& cell : group) {
      attempt(*cell, [pass](SweepCell& one) { one.measure_pass(pass); });
    }
  }
  for (const auto& cell : group) cell->release();
  if (!interrupted()) bound_by_computation(group);  // else their numbers of passes differ
}

/// Bounds the rates by what the same search does on dram, where that is one of the tiers.
void SweepRun::bound_by_computation(Group group) {
  const auto dram = std::find_if(group.begin(), group.end(),
                                 [](const auto& cell) { return cell->tier().is_dram(); });
  if (dram == group.end() || !(*dram)->samples().failure.empty()) return;
  const std::vector<double>& bounds = (*dram)->samples().qps;
  for (const auto& cell : group) {
    SweepSamples& samples = cell->samples();
    if (cell == *dram || !samples.failure.empty()) continue;
    samples.compute_bound_qps = median(bounds);
    for (std::size_t pass = 0; pass < bounds.size(); ++pass) {
      samples.compute_bound_shares.push_back(samples.qps[pass] / bounds[pass]);
    }
  }
}

void SweepRun::report(SweepCell& cell) {
  const std::string name = cell.tier().name();
  if (manner_.table) print_sweep_row(context_.manifest, cell.point(), name, cell.samples());
  file_.append(sweep_json(context_, cell.point(), {name, cell.tier().model()}, cell.samples()));
  ++reported_;
  if (cell.samples().failure.empty()) {
    ++ran_;
  } else if (first_failure_.empty()) {
    first_failure_ = cell.samples().failure;
  }
}

void SweepRun::stop() const {
  if (!manner_.quiet) {
    fmt::print(stderr, "farvec: interrupted: {} of {} combinations are measured{}\n", reported_,
               cells_.size(), file_.described());
  }
  throw WorkInterrupted();
}

}  // namespace farvec::measure
