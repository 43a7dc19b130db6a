// The commands `farvec insert`, `delete` and `vacuum` change an HNSW graph on pages.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/hnsw/page_options.h"
#include "cli/interrupt.h"
#include "dataset/groundtruth.h"
#include "indexing/order/insertion_order.h"
#include "measure/report/json_text.h"
#include "measure/report/row_range.h"
#include "measure/sweep/pages/hnsw_report.h"

namespace farvec::cli {
namespace {

using paged::PagedHnsw;

struct ChangeArguments {
  std::string index;
  PageAccess access;
  std::string data;
  std::string range;
  std::string order = "none";
  std::string ids;
  std::uint64_t first_id = 0;
  bool missing_ok = false;
  bool quiet = false;
  bool json = false;
};

/// Opens a graph that is to be changed, notes what its store has counted before, and reports
/// afterwards.
class Change {
 public:
  explicit Change(const ChangeArguments& arguments)
      : arguments_(arguments),
        hnsw_(measure::open_hnsw(arguments.index, arguments.access)),
        before_(hnsw_->store().counts()) {}

  PagedHnsw& hnsw() { return *hnsw_; }

  paged::HnswCrewOptions crew(Progress& progress) const {
    paged::HnswCrewOptions crew = crew_options(arguments_.access);
    crew.advanced = [&progress](std::uint64_t amount) { progress.advance(amount); };
    return crew;
  }

  /// Writes everything to the disk, then prints the report. Throws Interrupted after the report
  /// when the command was interrupted.
  void report(const char* what, paged::HnswWork work, const nlohmann::ordered_json& more) {
    work.write_back_seconds = hnsw_->write_back();
    const paged::StoreCounts counts = hnsw_->store().counts() - before_;
    const paged::HnswDescription now = hnsw_->describe();
    if (arguments_.json) {
      nlohmann::ordered_json facts{{"index", arguments_.index}};
      facts.update(measure::work_json(work, counts, now.page_bytes));
      facts.update(more);
      facts["graph"] = hnsw_json(now);
      fmt::print("{}\n", measure::json_text(facts));
    } else {
      measure::print_work(what, work, counts, now.page_bytes);
      fmt::print("{} vectors and {} marked ones on {} pages\n", now.state.vertices,
                 now.state.marked, now.pages);
    }
    if (interrupted()) throw Interrupted{};
  }

 private:
  const ChangeArguments& arguments_;
  std::unique_ptr<PagedHnsw> hnsw_;
  const paged::StoreCounts before_;
};

/// Returns the rows of the range in the order that was asked for, by their numbers in the file.
indexing::RowOrder ordered_rows(const ChangeArguments& arguments, const VectorView& all,
                                const measure::RowRange& range) {
  indexing::RowOrder order =
      indexing::order_rows(measure::rows_in(all, range), indexing::parse_order(arguments.order));
  for (NodeId& row : order.rows) row += static_cast<NodeId>(range.begin);
  return order;
}

void insert(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  Change change(arguments);
  const dataset::VectorSet rows = measure::stored_for(change.hnsw().config(), arguments.data);
  const measure::RowRange range = measure::parse_range(arguments.range, rows.count(), "--range");
  if (arguments.first_id + range.end > kInvalidNode) {
    throw Error("--first-id {}: ids up to {} are too large for 32 bits", arguments.first_id,
                arguments.first_id + range.end - 1);
  }
  const indexing::RowOrder order = ordered_rows(arguments, rows.view(), range);
  std::vector<NodeId> ids = order.rows;
  for (NodeId& id : ids) id += static_cast<NodeId>(arguments.first_id);
  Progress progress("inserts", ids.size(), arguments.quiet);
  paged::HnswCrew crew(change.hnsw(), change.crew(progress));
  change.report("inserted", crew.insert({rows.view(), order.rows, ids}),
                {{"order", arguments.order}, {"order_seconds", order.seconds}});
}

std::vector<NodeId> ids_to_delete(const ChangeArguments& arguments) {
  if (arguments.ids.empty() == arguments.range.empty()) {
    throw Error("give one of --ids and --range");
  }
  if (!arguments.ids.empty()) {
    const dataset::GroundTruth file = dataset::read_groundtruth(arguments.ids);
    if (file.k == 1) return file.ids;
    throw Error("'{}' has rows of {} ids, a list of ids has rows of one", arguments.ids, file.k);
  }
  const measure::RowRange range = measure::parse_id_range(arguments.range, kInvalidNode);
  std::vector<NodeId> ids(range.end - range.begin);
  std::iota(ids.begin(), ids.end(), static_cast<NodeId>(range.begin));
  return ids;
}

void erase(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  const std::vector<NodeId> ids = ids_to_delete(arguments);
  Change change(arguments);
  Progress progress("deletes", ids.size(), arguments.quiet);
  std::uint64_t missing = 0;
  paged::HnswCrew crew(change.hnsw(), change.crew(progress));
  const auto work = crew.erase(ids, arguments.missing_ok ? &missing : nullptr);
  change.report("marked", work, {{"missing", missing}});
}

void vacuum(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  Change change(arguments);
  Progress progress("pages", change.hnsw().store().pages(), arguments.quiet);
  paged::HnswCrew crew(change.hnsw(), change.crew(progress));
  const paged::HnswVacuumWork done = crew.vacuum();
  paged::HnswWork work;
  work.done = done.vacuum.removed;
  work.seconds = done.seconds;
  work.counts = done.counts;
  change.report("removed", work,
                {{"repaired", done.vacuum.repaired},
                 {"relinked", done.vacuum.relinked},
                 {"removed", done.vacuum.removed},
                 {"pages_freed", done.vacuum.pages_freed},
                 {"insert_pages_taken", done.vacuum.insert_pages_taken}});
}

void add_common(Command& command, ChangeArguments& a) {
  add_store_options(command, a.access);
  add_crew_options(command, a.access);
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_flag("--json", a.json, "Report as one JSON object");
}

}  // namespace

void register_insert_command(Command& tool) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = tool.add_command("insert", "Insert vectors into an HNSW graph on pages");
  command.add_option("--index", a.index, "Folder of the graph").required();
  command.add_option("--data", a.data, "Vector file").required();
  command.add_option("--range", a.range, "A:B, rows of the file [all]");
  command.add_option("--first-id", a.first_id, "Id of row 0 of the file; the others follow")
      .show_default();
  command
      .add_option(
          "--order", a.order,
          "In which rows go in: none, first, centroid, random, pca, kmeans, pca+kmeans, or\n"
          "file:PATH")
      .show_default();
  add_common(command, a);
  command.footer(
      "Searches see a vector as soon as it is in. What was acknowledged survives a kill; an id\n"
      "that is there already ends the command, and what went in before it stays.\n"
      "Example:\n  farvec insert --index set.hnsw --data new.fbin --first-id 1000000 --order pca");
  command.callback([arguments] { insert(*arguments); });
}

void register_delete_command(Command& tool) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = tool.add_command("delete", "Delete vectors from an HNSW graph on pages");
  command.add_option("--index", a.index, "Folder of the graph").required();
  command.add_option("--ids", a.ids, "File of ids: .ibin with rows of one");
  command.add_option("--range", a.range, "A:B, ids from A to B - 1");
  command.add_flag("--missing-ok", a.missing_ok, "Count ids that are not there, and go on");
  add_common(command, a);
  command.footer(
      "Marks them: no search finds them any more. `farvec vacuum` gives their room back.\n"
      "Example:\n  farvec delete --index set.hnsw --range 0:1000");
  command.callback([arguments] { erase(*arguments); });
}

void register_vacuum_command(Command& tool) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command =
      tool.add_command("vacuum", "Take deleted vectors off the pages of an HNSW graph");
  command.add_option("--index", a.index, "Folder of the graph").required();
  add_common(command, a);
  command.footer(
      "Chooses the neighbours of those that point to deleted vectors again, then frees their\n"
      "room for inserts. Can be ended and begun again at any time.\n"
      "Example:\n  farvec vacuum --index set.hnsw");
  command.callback([arguments] { vacuum(*arguments); });
}

}  // namespace farvec::cli
