#include "measure/bench/bench_disk_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/report/json_text.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr Column kDiskColumns[] = {
    {"engine", 8},   {"thr", 3},       {"payload", 8},  {"depth", 5},   {"mix", 5},
    {"reads/s", 11}, {"min..max", 20}, {"GB/s", 8},     {"mean us", 9}, {"p50 us", 9},
    {"p99 us", 9},   {"of fio", 7},    {"min..max", 11}};

void print_engine(const char* engine, const DiskRow& row, const BenchSamples& samples) {
  const Summary rate(samples.reads_per_s);
  const bool ours = &samples == &row.farvec;
  const Summary ratio(ours ? row.ratios() : std::vector<double>());
  const bool compared = ours && !row.fio.reads_per_s.empty();
  const auto number = [](const std::vector<double>& values) {
    return fmt::format("{:.2f}", median(values));
  };
  print_row(kDiskColumns,
            {engine, fmt::to_string(row.point.threads), fmt::to_string(row.point.payload_bytes),
             fmt::to_string(row.point.inflight), fmt::format("{:.3g}%", 100 * row.point.mix),
             fmt::format("{:.0f}", rate.median), rate.spread(),
             fmt::format("{:.3f}", median(samples.gb_per_s)), number(samples.mean_us),
             number(samples.p50_us), number(samples.p99_us),
             compared ? fmt::format("{:.3f}", ratio.median) : "-",
             compared ? fmt::format("{:.2f}..{:.2f}", ratio.least, ratio.most) : "-"});
}

nlohmann::ordered_json row_of(const char* engine, const DiskFacts& facts, const DiskRow& row) {
  return {{"engine", engine},
          {"path", facts.path},
          {"file_bytes", facts.bytes},
          {"direct", facts.direct},
          {"block_bytes", facts.block_bytes},
          {"payload", row.point.payload_bytes},
          {"depth", row.point.inflight},
          {"mix", row.point.mix},
          {"threads", row.point.threads}};
}

}  // namespace

std::vector<double> DiskRow::ratios() const {
  std::vector<double> result;
  const std::size_t passes = std::min(farvec.reads_per_s.size(), fio.reads_per_s.size());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    result.push_back(farvec.reads_per_s[pass] / fio.reads_per_s[pass]);
  }
  return result;
}

void print_disk_header() {
  print_header(kDiskColumns);
}

void print_disk_row(const DiskRow& row) {
  print_engine("farvec", row, row.farvec);
  if (!row.fio.reads_per_s.empty()) print_engine("fio", row, row.fio);
}

std::vector<std::string> disk_json(const BenchContext& context, const DiskFacts& facts,
                                   const DiskRow& row) {
  auto ours = row_of("farvec", facts, row);
  ours["model"] = facts.model;
  add_sample_fields(ours, row.farvec);
  if (row.fio.reads_per_s.empty()) {
    add_context_fields(ours, context);
    return {json_text(ours)};
  }
  const Summary ratio(row.ratios());
  ours["of_fio"] = ratio.median;
  ours["of_fio_min"] = ratio.least;
  ours["of_fio_max"] = ratio.most;
  add_context_fields(ours, context);
  auto theirs = row_of("fio", facts, row);
  theirs["model"] = facts.fio;
  add_sample_fields(theirs, row.fio);
  add_context_fields(theirs, context);
  return {json_text(ours), json_text(theirs)};
}

}  // namespace farvec::measure
