// farvec: data sets, indexes and measurements from the command line.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;

void register_commands(CLI::App& tool) {
  tool.require_subcommand(1);
  tool.set_version_flag("--version", "farvec " FARVEC_VERSION);
  farvec::cli::register_build_command(tool);
  farvec::cli::register_dataset_command(tool);
  farvec::cli::register_inspect_command(tool);
  farvec::cli::register_search_command(tool);
  farvec::cli::register_sweep_command(tool);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App tool("farvec: vector search over second-tier memory", "farvec");
  try {
    register_commands(tool);
    tool.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? 0 : kUsageError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "farvec: error: {}\n", error.what());
    return kFailed;
  }
  return 0;
}
