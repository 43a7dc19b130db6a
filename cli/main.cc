// This program is farvec: data sets, indexes and measurements from the command line.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "base/command_line.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/said_by.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

namespace {

constexpr int kFailed = 1;
constexpr int kInterrupted = 130;  ///< the status that shells give a program that SIGINT ended

void register_commands(farvec::CommandLine& tool) {
  tool.require_command();
  tool.version(fmt::format("farvec {} ({})", farvec::version(), farvec::commit()));
  farvec::cli::register_advise_command(tool);
  farvec::cli::register_bench_command(tool);
  farvec::cli::register_build_command(tool);
  farvec::cli::register_collection_command(tool);
  farvec::cli::register_attributes_command(tool);
  farvec::cli::register_convert_command(tool);
  farvec::cli::register_dataset_command(tool);
  farvec::cli::register_delete_command(tool);
  farvec::cli::register_devices_command(tool);
  farvec::cli::register_insert_command(tool);
  farvec::cli::register_inspect_command(tool);
  farvec::cli::register_place_command(tool);
  farvec::cli::register_probe_counts_command(tool);
  farvec::cli::register_publish_command(tool);
  farvec::cli::register_regroup_command(tool);
  farvec::cli::register_report_command(tool);
  farvec::cli::register_runbook_command(tool);
  farvec::cli::register_search_command(tool);
  farvec::cli::register_status_command(tool);
  farvec::cli::register_sweep_command(tool);
  farvec::cli::register_top_command(tool);
  farvec::cli::register_vacuum_command(tool);
}

}  // namespace

int main(int argc, char** argv) {
  farvec::CommandLine tool("farvec: vector search over second-tier memory", "farvec");
  // With the signal ignored, writes beyond a limit on file sizes fail like those on a full disk,
  // and partial output is removed.
  std::signal(SIGXFSZ, SIG_IGN);
  farvec::set_up_logging("farvec");
  try {
    register_commands(tool);
    if (const auto status = tool.parse(argc, argv)) return *status;
  } catch (const farvec::cli::ExitStatus& end) {
    return end.status;
  } catch (const farvec::cli::Interrupted&) {
    return kInterrupted;
  } catch (const farvec::WorkInterrupted&) {
    return kInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "farvec: error: {}\n", farvec::said_by(error));
    return kFailed;
  }
  return 0;
}
