#include "measure/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "measure/report/json_text.h"

namespace farvec::measure {

SweepRun::SweepRun(std::vector<std::unique_ptr<SweepCell>> cells, const SweepQueries& queries,
                   SweepFile& file, const SweepManner& manner)
    : queries_(queries), file_(file), manner_(manner) {
  for (auto& cell : cells) {
    if (file.has(cell->parameters())) {
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
    while (end < cells_.size() && cells_[end]->group() == cells_[begin]->group()) ++end;
    groups.emplace_back(cells_.data() + begin, end - begin);
    begin = end;
  }
  return groups;
}

/// Probes the first cell of each pace. The other cells are taken to be slower in proportion to the
/// work of their searches.
SweepForecast SweepRun::forecast() {
  std::map<std::string, double> seconds_of_work;
  SweepForecast forecast;
  for (const auto& cell : cells_) {
    const auto [entry, fresh] = seconds_of_work.try_emplace(cell->pace(), 0);
    if (fresh) {
      try {
        entry->second = cell->probe_seconds() / cell->work();
      } catch (const std::exception&) {
        // Its row will say why.
      }
    }
    if (interrupted()) stop();
    forecast.cell_seconds.push_back(cell->seconds(entry->second * cell->work()));
  }
  return forecast;
}

void SweepRun::say_what_comes(const SweepForecast& forecast) const {
  if (manner_.quiet) return;
  const double ms = queries_.pass_ms;
  fmt::print(stderr, "{} combinations of {} queries, {} passes{}: about {}\n", cells_.size(),
             queries_.rows.count, queries_.passes, ms > 0 ? fmt::format(" of {} ms", ms) : "",
             describe_seconds(forecast.sum_from(0)));
}

void SweepRun::run() {
  if (present_ > 0 && !manner_.quiet) {
    fmt::print(stderr, "{} of {} combinations are there already\n", present_,
               present_ + cells_.size());
  }
  if (cells_.empty()) return;
  const SweepForecast foretold = forecast();
  say_what_comes(foretold);
  SweepProgress progress(foretold, manner_.quiet);
  if (manner_.table) print_header(cells_.front()->columns());
  for (const Group group : groups()) {
    progress.show(reported_);
    measure(group);
    progress.clear();
    if (interrupted()) stop();
    for (const auto& cell : group) report(*cell);
  }
  if (present_ + ran_ > 0) return;
  throw Error("none of the combinations can run; the first: {}", first_failure_);
}

template <typename Step>
void SweepRun::attempt(SweepCell& cell, Step step) {
  if (cell.failed() || interrupted()) return;
  try {
    step(cell);
  } catch (const std::exception& error) {
    cell.fail(error.what());
  }
}

void SweepRun::measure(Group group) {
  for (const auto& cell : group) {
    attempt(*cell, [](SweepCell& one) { one.prepare(); });
  }
  for (std::uint32_t pass = 0; pass < queries_.passes; ++pass) {
    for (const auto& cell : group) {
      attempt(*cell, [pass](SweepCell& one) { one.measure_pass(pass); });
    }
  }
  for (const auto& cell : group) cell->release();
  if (!interrupted()) bound(group);  // else their numbers of passes differ
}

/// Bounds the rates by those of the cell of the group that bounds them, where there is one.
void SweepRun::bound(Group group) {
  const auto bounding = std::find_if(group.begin(), group.end(), [](const auto& cell) {
    return cell->bounding_rates() != nullptr;
  });
  if (bounding == group.end()) return;
  for (const auto& cell : group) {
    if (cell != *bounding && !cell->failed()) cell->bound_by(*(*bounding)->bounding_rates());
  }
}

/// Returns the row. A message in it may hold what a peer sent.
std::string SweepRun::json_of(const SweepCell& cell) const {
  nlohmann::ordered_json row;
  const nlohmann::ordered_json parameters = cell.parameters();
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_null()) row[name] = value;
  }
  cell.add_facts(row);
  if (cell.failed()) row["error"] = cell.failure();
  row["commit"] = commit();
  row["host"] = host_;
  row["command"] = command_description();
  return json_text(row);
}

void SweepRun::print(const SweepCell& cell) {
  std::vector<std::string> cells = cell.table_cells();
  cells.resize(cell.columns().size(), "-");
  print_row(cell.columns(), cells, cell.failed() ? "cannot run: " + cell.failure() : "");
}

void SweepRun::report(const SweepCell& cell) {
  if (manner_.table) print(cell);
  file_.append(json_of(cell));
  ++reported_;
  if (!cell.failed()) {
    ++ran_;
  } else if (first_failure_.empty()) {
    first_failure_ = cell.failure();
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
