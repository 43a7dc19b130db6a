// farvec collection insert, delete and compact.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "cli/collection/changed_collection.h"
#include "cli/collection/collection_commands.h"
#include "cli/interrupt.h"
#include "cli/sweep/sweep_plan.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "rpc/option_rules.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

using collection::Receipt;

struct ChangeArguments {
  std::string folder;
  CollectionWrite write;
  RemoteCollectionOptions remote{.retries = 30};
  std::int64_t deadline_ms = 10'000;
  std::string data;
  std::string range;
  std::string ids;
  std::uint64_t first_id = 0;
  bool import = false;
  bool quiet = false;
  bool json = false;
};

void check_options(const Command& command, const ChangeArguments& arguments) {
  if (arguments.folder.empty() == arguments.remote.node.address.empty()) {
    throw Error("give one of --collection and --connect");
  }
  const bool is_local = !arguments.folder.empty();
  std::vector<rpc::OptionRule> rules;
  for (const char* option : {"--durability", "--threads", "--import"}) {
    rules.push_back({option, is_local, "--collection, not --connect"});
  }
  for (const char* option : {"--deadline-ms", "--retries"}) {
    rules.push_back({option, !is_local, "--connect, not --collection"});
  }
  rpc::refuse_unused(command, rules);
  if (is_local) rpc::refuse_tls_flags(command, "compute nodes; this is --collection");
}

std::unique_ptr<ChangedCollection> open(const ChangeArguments& arguments) {
  if (!arguments.folder.empty()) {
    return open_collection(arguments.folder, arguments.write, arguments.quiet);
  }
  RemoteCollectionOptions remote = arguments.remote;
  remote.deadline = std::chrono::milliseconds(arguments.deadline_ms);
  return connect_to_collection(remote);
}

void require_ok(const Status& status, const Receipt& receipt) {
  if (status.ok()) return;
  throw Error("{} ({}); {} changes went in before", status.message(), to_string(status.code()),
              receipt.done);
}

/// A collection that is being changed, and the report behind.
class Change {
 public:
  explicit Change(const ChangeArguments& arguments)
      : arguments_(arguments), collection_(open(arguments)) {}

  ChangedCollection& collection() { return *collection_; }

  /// Once the background has done what the change asked of it.
  void report(const char* what, const Receipt& receipt) {
    const auto changed = Clock::now();
    if (!interrupted()) collection_->settle();
    const double seconds = std::chrono::duration<double>(changed - start_).count();
    const double settle = std::chrono::duration<double>(Clock::now() - changed).count();
    const nlohmann::ordered_json now = collection_->now();
    if (arguments_.json) {
      nlohmann::ordered_json json{{"collection", name()},         {what, receipt.done},
                                  {"replaced", receipt.replaced}, {"missing", receipt.missing},
                                  {"seconds", seconds},           {"settle_seconds", settle},
                                  {"version", receipt.version}};
      json["now"] = now;
      fmt::print("{}\n", json.dump());
    } else {
      fmt::print("{} {} in {:.2f} s ({:.0f} per second)", what, receipt.done, seconds,
                 static_cast<double>(receipt.done) / seconds);
      if (receipt.replaced > 0) fmt::print(", {} in place of others", receipt.replaced);
      if (receipt.missing > 0) fmt::print(", {} ids were not there", receipt.missing);
      if (!arguments_.folder.empty()) fmt::print("; segments took {:.2f} s more", settle);
      fmt::print("\n{} vectors in {} segments, {} of them fresh\n", number(now, "vectors"),
                 number(now, "segments"), number(now, "memtable_vectors"));
    }
    if (interrupted()) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::uint64_t number(const nlohmann::ordered_json& now, const char* field) {
    return now.at(field).get<std::uint64_t>();
  }
  const std::string& name() const {
    return arguments_.folder.empty() ? arguments_.remote.node.address : arguments_.folder;
  }

  const ChangeArguments& arguments_;
  const Clock::time_point start_ = Clock::now();
  const std::unique_ptr<ChangedCollection> collection_;
};

std::vector<std::uint64_t> numbered(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

void add(Receipt& sum, const Receipt& part) {
  if (part.version != 0) sum.version = part.version;
  sum.done += part.done;
  sum.replaced += part.replaced;
  sum.missing += part.missing;
}

Receipt insert_rows(ChangedCollection& collection, const VectorView& rows,
                    std::span<const std::uint64_t> ids, Progress& progress) {
  Receipt all;
  const std::size_t most = collection.batch_rows();
  for (std::size_t next = 0; next < rows.count && !interrupted(); next += most) {
    VectorView part = rows;
    part.data = rows.row(next);
    part.count = std::min(most, rows.count - next);
    Receipt receipt;
    const Status status = collection.insert(part, ids.subspan(next, part.count), receipt);
    add(all, receipt);
    require_ok(status, all);
    progress.advance(part.count);
  }
  return all;
}

Receipt erase_ids(ChangedCollection& collection, std::span<const std::uint64_t> ids) {
  Receipt all;
  const std::size_t most = collection.batch_ids();
  for (std::size_t next = 0; next < ids.size() && !interrupted(); next += most) {
    Receipt receipt;
    const Status status =
        collection.erase(ids.subspan(next, std::min(most, ids.size() - next)), receipt);
    add(all, receipt);
    require_ok(status, all);
  }
  return all;
}

void insert(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  const dataset::VectorSet file = dataset::load(arguments.data);
  const RowRange range = parse_range(arguments.range, file.count());
  if (arguments.first_id > std::numeric_limits<std::uint64_t>::max() - file.count()) {
    throw Error("--first-id {}: the last row's id would have more than 64 bits",
                arguments.first_id);
  }
  const VectorView rows = rows_in(file.view(), range);
  const std::vector<std::uint64_t> ids =
      numbered(arguments.first_id + range.begin, range.end - range.begin);
  Change change(arguments);
  change.collection().check(rows, ids);
  if (arguments.import) {
    return change.report("inserted", change.collection().import(rows, ids));
  }
  Progress progress("inserts", rows.count, arguments.quiet);
  change.report("inserted", insert_rows(change.collection(), rows, ids, progress));
}

std::vector<std::uint64_t> ids_to_delete(const ChangeArguments& arguments) {
  if (arguments.ids.empty() == arguments.range.empty()) {
    throw Error("give one of --ids and --range");
  }
  if (!arguments.ids.empty()) {
    const dataset::GroundTruth file = dataset::read_groundtruth(arguments.ids);
    if (file.k == 1) return {file.ids.begin(), file.ids.end()};
    throw Error("'{}' has rows of {} ids, a list of ids has rows of one", arguments.ids, file.k);
  }
  const RowRange range = parse_range(arguments.range, std::numeric_limits<std::size_t>::max());
  return numbered(range.begin, range.end - range.begin);
}

void erase(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  const std::vector<std::uint64_t> ids = ids_to_delete(arguments);
  Change change(arguments);
  change.report("deleted", erase_ids(change.collection(), ids));
}

void compact(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  Change change(arguments);
  change.collection().compact();
  Receipt receipt;
  receipt.done = change.collection().now().at("vectors").get<std::uint64_t>();
  change.report("compacted", receipt);
}

void add_common(Command& command, ChangeArguments& a) {
  command.add_option("--collection", a.folder, "Folder of the collection, changed by this process");
  command.add_option("--connect", a.remote.node.address,
                     "Compute node that serves the collection: HOST:PORT or unix:/path");
  add_write_options(command, a.write);
  command
      .add_option("--deadline-ms", a.deadline_ms,
                  "With --connect: milliseconds that each call may take")
      .range(1, 3'600'000)
      .show_default();
  command
      .add_option("--retries", a.remote.retries,
                  "With --connect: times that a call is tried again, later and later, when the "
                  "node\nhas no room, is not there, or was too late. What was in already then "
                  "counts as replaced")
      .range(0, 1'000)
      .show_default();
  rpc::add_tls_flags(command, a.remote.node.tls);
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_flag("--json", a.json, "Report as one JSON object");
}

}  // namespace

void register_collection_insert(Command& collection) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command =
      collection.add_command("insert", "Insert vectors, or replace those that have the ids");
  add_common(command, a);
  command.add_option("--data", a.data, "Vector file").required();
  command.add_option("--range", a.range, "A:B, rows of the file [all]");
  command.add_option("--first-id", a.first_id, "Id of row 0 of the file; the others follow")
      .show_default();
  command.add_flag("--import", a.import,
                   "Make one segment of all rows at once, past the log: for many");
  command.footer(
      "A vector is found as soon as it is in. Segments are built and merged meanwhile; the "
      "command\n"
      "ends when that is done. What was acknowledged survives a kill.\n"
      "Example:\n  farvec collection insert --collection set --data new.fbin --first-id 1000000\n"
      "  farvec collection insert --connect 127.0.0.1:7711 --data new.fbin --first-id 1000000");
  command.callback([arguments, command] {
    check_options(command, *arguments);
    insert(*arguments);
  });
}

void register_collection_delete(Command& collection) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = collection.add_command("delete", "Delete vectors by their ids");
  add_common(command, a);
  command.add_option("--ids", a.ids, "File of ids: .ibin with rows of one");
  command.add_option("--range", a.range, "A:B, ids from A to B - 1");
  command.footer(
      "Ids that are not there are counted. Merges give the room back.\n"
      "Example:\n  farvec collection delete --collection set --range 0:1000");
  command.callback([arguments, command] {
    check_options(command, *arguments);
    erase(*arguments);
  });
}

void register_collection_compact(Command& collection) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = collection.add_command(
      "compact", "Merge everything into one segment without deleted vectors");
  add_common(command, a);
  command.footer("Example:\n  farvec collection compact --collection set");
  command.callback([arguments, command] {
    check_options(command, *arguments);
    compact(*arguments);
  });
}

}  // namespace farvec::cli
