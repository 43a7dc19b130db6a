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
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_options.h"
#include "cli/interrupt.h"
#include "cli/sweep/sweep_plan.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"

namespace farvec::cli {
namespace {

using collection::Collection;
using collection::Receipt;

/// Between two looks at an interrupt.
constexpr std::size_t kBatchRows = 4096;
/// A batch waits so long for segments to be built.
constexpr double kBatchUs = 600e6;

struct ChangeArguments {
  std::string folder;
  CollectionWrite write;
  std::string data;
  std::string range;
  std::string ids;
  std::uint64_t first_id = 0;
  bool import = false;
  bool quiet = false;
  bool json = false;
};

Ticks batch_deadline() {
  return now_ticks() + us_to_ticks(kBatchUs);
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
      : arguments_(arguments), collection_(arguments.folder, write_access(arguments.write)) {
    tell_recovery(collection_.recovery(), arguments.quiet);
  }

  Collection& collection() { return collection_; }

  /// Once the background has done what the change asked of it.
  void report(const char* what, const Receipt& receipt) {
    const auto changed = Clock::now();
    if (!interrupted()) collection_.settle();
    const double seconds = std::chrono::duration<double>(changed - start_).count();
    const double settle = std::chrono::duration<double>(Clock::now() - changed).count();
    const collection::ViewSize size = size_of(*collection_.view());
    if (arguments_.json) {
      nlohmann::ordered_json json{
          {"collection", arguments_.folder}, {what, receipt.done}, {"replaced", receipt.replaced},
          {"missing", receipt.missing},      {"seconds", seconds}, {"settle_seconds", settle},
          {"version", receipt.version}};
      json["now"] = state_json(*collection_.view(), collection_.state());
      fmt::print("{}\n", json.dump());
    } else {
      fmt::print("{} {} in {:.2f} s ({:.0f} per second)", what, receipt.done, seconds,
                 static_cast<double>(receipt.done) / seconds);
      if (receipt.replaced > 0) fmt::print(", {} in place of others", receipt.replaced);
      if (receipt.missing > 0) fmt::print(", {} ids were not there", receipt.missing);
      fmt::print("; segments took {:.2f} s more\n", settle);
      fmt::print("{} vectors in {} segments, {} of them fresh\n", size.live,
                 collection_.view()->segments.size(), size.fresh);
    }
    if (interrupted()) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;
  const ChangeArguments& arguments_;
  const Clock::time_point start_ = Clock::now();
  Collection collection_;
};

std::vector<std::uint64_t> numbered(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

void add(Receipt& sum, const Receipt& part) {
  sum.version = part.version;
  sum.done += part.done;
  sum.replaced += part.replaced;
  sum.missing += part.missing;
}

Receipt insert_rows(Collection& collection, const VectorView& rows,
                    std::span<const std::uint64_t> ids, Progress& progress) {
  Receipt all;
  for (std::size_t next = 0; next < rows.count && !interrupted(); next += kBatchRows) {
    VectorView part = rows;
    part.data = rows.row(next);
    part.count = std::min(kBatchRows, rows.count - next);
    Receipt receipt;
    const Status status =
        collection.insert(part, ids.subspan(next, part.count), batch_deadline(), receipt);
    add(all, receipt);
    require_ok(status, all);
    progress.advance(part.count);
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
  Receipt receipt;
  require_ok(change.collection().erase(ids, batch_deadline(), receipt), receipt);
  change.report("deleted", receipt);
}

void compact(const ChangeArguments& arguments) {
  Change change(arguments);
  change.collection().compact();
  Receipt receipt;
  receipt.done = size_of(*change.collection().view()).live;
  change.report("compacted", receipt);
}

void add_common(Command& command, ChangeArguments& a) {
  command.add_option("--collection", a.folder, "Folder of the collection").required();
  add_write_options(command, a.write);
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
      "Example:\n  farvec collection insert --collection set --data new.fbin --first-id 1000000");
  command.callback([arguments] { insert(*arguments); });
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
  command.callback([arguments] { erase(*arguments); });
}

void register_collection_compact(Command& collection) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = collection.add_command(
      "compact", "Merge everything into one segment without deleted vectors");
  add_common(command, a);
  command.footer("Example:\n  farvec collection compact --collection set");
  command.callback([arguments] { compact(*arguments); });
}

}  // namespace farvec::cli
