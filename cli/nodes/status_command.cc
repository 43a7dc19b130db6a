// The command `farvec status` says whether a compute node or a memory node serves, what, and since
// when.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <variant>

#include "base/command_line.h"
#include "cli/commands.h"
#include "cli/nodes/asked_node.h"
#include "measure/report/json_text.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

/// The exit status when the node was found and does not serve; `launch.sh status` has the same.
constexpr int kDoesNotServe = 3;

struct StatusArguments {
  std::string address;
  rpc::TlsFiles tls;
  double timeout_seconds = 5;
  bool json = false;
};

void print_status(const StatusArguments& arguments) {
  const NodeStatus status = std::visit(
      [&](const auto& answers) { return status_of(arguments.address, answers); },
      AskedNode(arguments.address, rpc::load_tls(arguments.tls)).ask(arguments.timeout_seconds));
  fmt::print("{}\n", arguments.json ? measure::json_text(status.facts) : status.text);
  std::fflush(stdout);
  if (!status.serving) throw ExitStatus{kDoesNotServe};
}

}  // namespace

void register_status_command(Command& tool) {
  auto arguments = std::make_shared<StatusArguments>();
  Command command = tool.add_command(
      "status", "Whether a compute node or a memory node serves, what, and since when");
  command.add_option("address", arguments->address, "HOST:PORT or unix:/path of either").required();
  command
      .add_option("--timeout-seconds", arguments->timeout_seconds,
                  "Time for the whole answer; a port without a listener is told at once")
      .range(0.001, 3600.0)
      .show_default();
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  rpc::add_tls_flags(command, arguments->tls);
  command.footer(
      "Exit status: 0 when it serves, 3 when it answers and does not, 1 when it does not answer.\n"
      "Example:\n"
      "  farvec status 127.0.0.1:7711\n"
      "  farvec status unix:/run/farvec-memory.sock --json");
  command.callback([arguments] { print_status(*arguments); });
}

}  // namespace farvec::cli
