#include "cli/collection/collection_change.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/option_rules.h"
#include "cli/collection/background_watch.h"
#include "cli/interrupt.h"
#include "measure/report/json_text.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

using changes::Receipt;

std::unique_ptr<ChangedCollection> open(const ChangeArguments& arguments) {
  if (!arguments.folder.empty()) {
    return open_collection(arguments.folder, arguments.write, arguments.quiet);
  }
  RemoteCollectionOptions remote = arguments.remote;
  remote.deadline = std::chrono::milliseconds(arguments.deadline_ms);
  return connect_to_collection(remote);
}

std::uint64_t number(const nlohmann::ordered_json& now, const char* field) {
  return now.at(field).get<std::uint64_t>();
}

std::string text_of(const Receipt& receipt, double seconds) {
  std::string text = fmt::format("{} in {:.2f} s ({:.0f} per second)", receipt.done, seconds,
                                 static_cast<double>(receipt.done) / seconds);
  if (receipt.replaced > 0) text += fmt::format(", {} in place of others", receipt.replaced);
  if (receipt.missing > 0) text += fmt::format(", {} ids were not there", receipt.missing);
  return text;
}

}  // namespace

void check_change_options(const Command& command, const ChangeArguments& arguments) {
  if (arguments.folder.empty() == arguments.remote.node.address.empty()) {
    throw Error("give one of --collection and --connect");
  }
  const bool is_local = !arguments.folder.empty();
  std::vector<OptionRule> rules;
  for (const char* option : {"--durability", "--threads", "--import", "--index"}) {
    rules.push_back({option, is_local, "--collection, not --connect"});
  }
  for (const char* option : {"--deadline-ms", "--retries"}) {
    rules.push_back({option, !is_local, "--connect, not --collection"});
  }
  refuse_unused(command, rules);
  if (is_local) rpc::refuse_tls_flags(command, "compute nodes; this is --collection");
}

void add_change_options(Command& command, ChangeArguments& a) {
  command.add_option("--collection", a.folder, "Folder of the collection, changed by this process");
  command.add_option("--connect", a.remote.node.address,
                     "Compute node that serves the collection: HOST:PORT or unix:/path");
  add_write_options(command, a.write);
  command
      .add_option("--deadline-ms", a.deadline_ms,
                  "With --connect: milliseconds that each call may take")
      .range(1u, 3'600'000u)
      .show_default();
  command
      .add_option("--retries", a.remote.retries,
                  "With --connect: times that a call is tried again, later and later, when the "
                  "node\nhas no room, is not there, or was too late. What was in already then "
                  "counts as replaced")
      .range(0u, 1'000u)
      .show_default();
  rpc::add_tls_flags(command, a.remote.node.tls);
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_flag("--json", a.json, "Report as one JSON object");
}

Receipt receipt_of(const std::function<void(Receipt&)>& change) {
  Receipt receipt;
  try {
    change(receipt);
  } catch (const WorkInterrupted&) {
    // The report says that the command was interrupted.
  } catch (const Error& error) {
    throw Error("{}; {} changes went in before", error.what(), receipt.done);
  }
  return receipt;
}

/// Says what there is now: a collection of segments, or a graph on pages that a node serves.
void print_state(const nlohmann::ordered_json& now) {
  if (const auto pages = now.find("pages"); pages != now.end()) {
    fmt::print("\n{} vectors and {} deleted ones on {} pages\n", number(now, "vectors"),
               number(now, "out_rows"), number(*pages, "pages"));
    return;
  }
  fmt::print("\n{} vectors in {} segments, {} of them fresh\n", number(now, "vectors"),
             number(now, "segments"), number(now, "memtable_vectors"));
}

Change::Change(const ChangeArguments& arguments)
    : arguments_(arguments), collection_(open(arguments)) {}

void Change::watched(const std::function<void()>& work) {
  const BackgroundWatch watch([this] { return collection_->making(); }, arguments_.quiet);
  work();
}

void Change::report(const char* what, const Receipt& receipt) {
  const auto changed = Clock::now();
  if (!interrupted()) watched([this] { collection_->settle(); });
  const nlohmann::ordered_json now = collection_->changes().now();
  const double seconds = std::chrono::duration<double>(changed - start_).count();
  const double settle = std::chrono::duration<double>(Clock::now() - changed).count();
  nlohmann::ordered_json json{{"collection", name()},         {what, receipt.done},
                              {"replaced", receipt.replaced}, {"missing", receipt.missing},
                              {"seconds", seconds},           {"settle_seconds", settle},
                              {"version", receipt.version},   {"now", now}};
  if (arguments_.json) {
    fmt::print("{}\n", measure::json_text(json));
  } else {
    fmt::print("{} {}", what, text_of(receipt, seconds));
    if (!arguments_.folder.empty()) fmt::print("; segments took {:.2f} s more", settle);
    print_state(now);
  }
  if (interrupted()) throw Interrupted{};
}

}  // namespace farvec::cli
