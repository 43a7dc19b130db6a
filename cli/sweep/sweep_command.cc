// The command `farvec sweep` measures recall, throughput and latency over every combination of
// parameters.
#include <memory>
#include <string>
#include <string_view>

#include "base/command_line.h"
#include "base/option_rules.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/search/search_rules.h"
#include "cli/sweep/sweep_options.h"
#include "layout/index/index_directory.h"
#include "measure/report/measurement.h"
#include "measure/sweep/pages/hnsw_sweep.h"
#include "measure/sweep/sweep.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"

namespace farvec::cli {
namespace {

using measure::ExistingFile;
using measure::split_numbers;

const OptionRule kPagedOptions[] = {
    {"--buffer", false, "HNSW graphs on pages, whose buffer it is"},
    {"--min-complete", false, "HNSW graphs on pages"},
};

/// Refuses options that would be ignored, before anything is loaded.
void check_options(const Command& command, const SweepArguments& arguments) {
  refuse_unused(command, kPagedOptions);
  const auto directory = layout::IndexDirectory::open(arguments.index);
  const auto tiers = tiers::parse_tiers(arguments.tiers);
  refuse_unused_options(command, {directory.manifest(), arguments.index, tiers});
}

ExistingFile existing_file(const SweepArguments& arguments) {
  if (arguments.overwrite) return ExistingFile::overwrite;
  return arguments.resume ? ExistingFile::resume : ExistingFile::refuse;
}

measure::SweepFiles files_of(const SweepArguments& arguments) {
  return {.json = arguments.json, .html = arguments.html, .existing = existing_file(arguments)};
}

void refuse_tier_options(const Command& command) {
  std::vector<OptionRule> rules;
  OptionRule rule{"", false, "indexes that are no HNSW graph on pages"};
  for (const char* option :
       {"--filter", "--width", "--probe", "--prune-ratio", "--dedup", "--merge-gap", "--tier",
        "--second-tier", "--cache-bytes", "--memory-budget", "--pass-ms", "--line-ns"}) {
    rule.option = option;
    rules.push_back(rule);
  }
  rule.where = "slotted pages (`build graph --layout slotted`)";
  for (const char* option : search::kPageOptions) {
    if (std::string_view(option) == "--search") continue;
    rule.option = option;
    rules.push_back(rule);
  }
  refuse_unused(command, rules);
}

/// Sweeps an HNSW graph on pages, whose searches have a buffer and no tier.
void sweep_pages(const Command& command, const SweepArguments& arguments) {
  refuse_tier_options(command);
  measure::HnswSweep sweep{.index = arguments.index,
                           .questions = {arguments.queries, arguments.groundtruth},
                           .buffers = measure::split_words(arguments.buffers),
                           .lists = split_numbers(arguments.lists, "--list"),
                           .slots = measure::split_slots(arguments.slots),
                           .threads = split_numbers(arguments.threads, "--threads"),
                           .min_complete = arguments.min_complete,
                           .k = arguments.k,
                           .passes = arguments.passes,
                           .range = arguments.range,
                           .manner = {.interrupted = interrupted}};
  if (command.was_given("--search")) sweep.searches = measure::split_words(arguments.disk.search);
  measure::check_passes(arguments.k, arguments.passes, arguments.pass_ms);
  const InterruptGuard watch;
  measure::sweep_hnsw(sweep, files_of(arguments));
}

void sweep(const Command& command, const SweepArguments& arguments) {
  if (paged::is_hnsw(arguments.index)) return sweep_pages(command, arguments);
  check_options(command, arguments);
  const measure::SweepOptions options{
      .index = arguments.index,
      .questions = {arguments.queries, arguments.groundtruth},
      .range = arguments.range,
      .lists = split_numbers(arguments.lists, "--list"),
      .widths = split_numbers(arguments.widths, "--width"),
      .probes = split_numbers(arguments.probes, "--probe"),
      .dedups = measure::split_switches(arguments.dedup, "--dedup"),
      .prune_ratio = arguments.prune_ratio,
      .merge_gap = arguments.merge_gap,
      .slots = measure::split_slots(arguments.slots),
      .threads = split_numbers(arguments.threads, "--threads"),
      .cache_bytes = measure::split_bytes(arguments.cache_bytes, "--cache-bytes"),
      .tiers = tiers::parse_tiers(arguments.tiers),
      .second_tier =
          arguments.second_tier.empty() ? nullptr : tiers::parse_tier(arguments.second_tier),
      .disk = arguments.disk,
      .filter = arguments.filter,
      .k = arguments.k,
      .passes = arguments.passes,
      .pass_ms = arguments.pass_ms,
      .line_ns = arguments.line_ns,
      .tls = arguments.tls,
      .manner = {.interrupted = interrupted}};
  const InterruptGuard watch;
  measure::sweep(options, files_of(arguments));
}

}  // namespace

void register_sweep_command(Command& tool) {
  auto arguments = std::make_shared<SweepArguments>();
  Command command = tool.add_command(
      "sweep", "Measure recall, throughput and latency over every combination of parameters");
  add_sweep_options(command, *arguments);
  command.callback([arguments, command] { sweep(command, *arguments); });
}

}  // namespace farvec::cli
