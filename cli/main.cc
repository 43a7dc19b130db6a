// farvec: data sets, indexes and measurements from the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kInterrupted = 130;  ///< as shells say it of SIGINT

void register_commands(CLI::App& tool) {
  tool.require_subcommand(1);
  tool.set_version_flag("--version",
                        fmt::format("farvec {} ({})", farvec::version(), farvec::commit()));
  farvec::cli::register_advise_command(tool);
  farvec::cli::register_bench_command(tool);
  farvec::cli::register_build_command(tool);
  farvec::cli::register_dataset_command(tool);
  farvec::cli::register_inspect_command(tool);
  farvec::cli::register_place_command(tool);
  farvec::cli::register_probe_counts_command(tool);
  farvec::cli::register_publish_command(tool);
  farvec::cli::register_regroup_command(tool);
  farvec::cli::register_search_command(tool);
  farvec::cli::register_status_command(tool);
  farvec::cli::register_sweep_command(tool);
}

/// CLI11 reports a misspelt command as a missing one; this names it.
int report_usage_error(const CLI::App& tool, const CLI::ParseError& error) {
  const auto unread = tool.remaining(true);
  if (error.get_name() == "RequiredError" && !unread.empty()) {
    fmt::print(stderr, "farvec: error: there is no command or argument '{}'\n", unread.front());
  }
  return tool.exit(error) == 0 ? 0 : kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App tool("farvec: vector search over second-tier memory", "farvec");
  // Beyond a limit on file sizes, writes then fail as on a full disk, and partial output is
  // removed.
  std::signal(SIGXFSZ, SIG_IGN);
  farvec::set_up_logging("farvec");
  try {
    register_commands(tool);
    tool.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();  // a command has done its work, and says so in another way than 0
  } catch (const farvec::cli::Interrupted&) {
    return kInterrupted;
  } catch (const CLI::ParseError& error) {
    return report_usage_error(tool, error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "farvec: error: {}\n", error.what());
    return kFailed;
  }
  return 0;
}
