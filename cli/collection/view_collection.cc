// The commands `farvec collection inspect` and `verify` say what a collection holds, and whether
// its bytes are sound.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "cli/collection/changed_collection.h"
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_options.h"
#include "cli/collection/collection_place.h"
#include "collection/read/collection_reader.h"
#include "collection/segment/segment_folder.h"
#include "measure/report/json_text.h"
#include "measure/report/table.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

using collection::CollectionReader;
using collection::View;

struct ViewArguments {
  CollectionPlace place;
  RemoteCollectionOptions remote;
  bool quiet = false;
  bool json = false;
};

nlohmann::ordered_json segment_json(const View::Bulk& bulk) {
  const layout::Manifest& manifest = bulk.segment->manifest();
  nlohmann::ordered_json json{{"segment", bulk.segment->number()},
                              {"rows", bulk.segment->rows()},
                              {"out", bulk.out->count()},
                              {"layout", manifest.layout_name()},
                              {"bytes", bulk.segment->file_bytes()}};
  if (manifest.second_copy) json["second_bytes"] = manifest.second_copy_bytes();
  return json;
}

void print_segments(const View& view) {
  constexpr std::array<measure::Column, 4> kSegmentColumns{
      {{"segment", 12}, {"rows", 12}, {"out", 12}, {"bytes", 16}}};
  measure::print_header(kSegmentColumns);
  for (const View::Bulk& bulk : view.segments) {
    measure::print_row(
        kSegmentColumns,
        {std::to_string(bulk.segment->number()), std::to_string(bulk.segment->rows()),
         std::to_string(bulk.out->count()), std::to_string(bulk.segment->file_bytes())});
  }
}

void print_facts(const nlohmann::ordered_json& facts) {
  for (const auto& [name, value] : facts.items())
    fmt::print("{:<18} {}\n", name, measure::json_text(value));
}

void inspect_remote(const ViewArguments& arguments) {
  nlohmann::ordered_json facts{{"collection", arguments.remote.node.address}};
  facts.update(connect_to_collection(arguments.remote)->changes().now());
  if (arguments.json) {
    fmt::print("{}\n", measure::json_text(facts));
  } else {
    print_facts(facts);
  }
}

void inspect(const Command& command, const ViewArguments& arguments) {
  if (is_connected(command, arguments.place, arguments.remote.node.address)) {
    return inspect_remote(arguments);
  }
  const CollectionReader reader =
      open_without_records(open_place(command, arguments.place, arguments.remote.node.tls));
  const View& view = *reader.view();
  nlohmann::ordered_json facts{{"collection", arguments.place.collection}};
  facts.update(collection::shape_json(reader.shape()));
  facts.update(collection::view_json(view));
  facts["log"] = collection::recovery_json(reader.recovery());
  if (arguments.json) {
    for (const View::Bulk& bulk : view.segments) facts["parts"].push_back(segment_json(bulk));
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  print_facts(facts);
  if (!view.segments.empty()) print_segments(view);
}

/// Looks at every live id of the view and returns their number. Throws Error when one comes twice.
std::uint64_t check_ids(const View& view) {
  std::vector<std::uint64_t> ids;
  for (const View::Fresh& fresh : view.memtables) {
    for (NodeId row = 0; row < fresh.count; ++row) {
      if (!fresh.out->contains(row)) ids.push_back(fresh.memtable->id(row));
    }
  }
  for (const View::Bulk& bulk : view.segments) {
    for (NodeId row = 0; row < bulk.segment->rows(); ++row) {
      if (!bulk.out->contains(row)) ids.push_back(bulk.segment->ids().of(row));
    }
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) throw Error("id {} is live twice: the collection is damaged", *twice);
  return ids.size();
}

/// Reads every byte of the segments. Returns false when a process that changes the collection has
/// replaced some of them meanwhile. Throws Error when one is damaged.
bool check_segments(const ViewArguments& arguments, const CollectionReader& reader) {
  const View& view = *reader.view();
  Progress progress("segments", view.segments.size(), arguments.quiet);
  for (const View::Bulk& bulk : view.segments) {
    try {
      const collection::SegmentFolder& folder = bulk.segment->folder();
      folder.directory().verify({.quiet = true});
      if (folder.second() != nullptr) folder.second()->verify();
    } catch (const Error&) {
      if (layout::read_collection(arguments.place.collection) != reader.shape()) return false;
      throw;
    }
    progress.advance(1);
  }
  return true;
}

void report_sound(const ViewArguments& arguments, const CollectionReader& reader) {
  const View& view = *reader.view();
  const std::uint64_t live = check_ids(view);
  if (arguments.json) {
    nlohmann::ordered_json facts{{"collection", arguments.place.collection}, {"sound", true}};
    facts.update(collection::view_json(view));
    facts["log"] = collection::recovery_json(reader.recovery());
    fmt::print("{}\n", measure::json_text(facts));
  } else {
    fmt::print("{}: {} vectors in {} segments and {} changes of the log, all sound\n",
               arguments.place.collection, live, view.segments.size(), reader.recovery().changes);
  }
}

void verify(const ViewArguments& arguments) {
  const OpenedPlace folder{.source = collection::folder_collection(arguments.place.collection),
                           .access = collection::SegmentAccess::on("dram"),
                           .log_nodes = nullptr};
  constexpr int kAttempts = 20;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const CollectionReader reader = open_without_records(folder);
    if (check_segments(arguments, reader)) return report_sound(arguments, reader);
  }
  throw Error("'{}' changes faster than it is read: verify it when it is not changed",
              arguments.place.collection);
}

void add_common(Command& command, ViewArguments& a) {
  command.add_flag("--json", a.json, "Report as one JSON object");
}

}  // namespace

void register_collection_inspect(Command& collection) {
  auto arguments = std::make_shared<ViewArguments>();
  Command command = collection.add_command("inspect", "Say what a collection holds");
  add_place_options(command, arguments->place);
  command.add_option("--connect", arguments->remote.node.address,
                     "Compute node that serves the collection: HOST:PORT or unix:/path");
  add_common(command, *arguments);
  rpc::add_tls_flags(command, arguments->remote.node.tls);
  command.footer(
      "Example:\n"
      "  farvec collection inspect --collection set\n"
      "  farvec collection inspect --connect 127.0.0.1:7711\n"
      "  farvec collection inspect --collection nodes:set --log-nodes unix:/tmp/m0 \\\n"
      "    --segment-nodes unix:/tmp/m0");
  command.callback([arguments, command] { inspect(command, *arguments); });
}

void register_collection_verify(Command& collection) {
  auto arguments = std::make_shared<ViewArguments>();
  Command command = collection.add_command(
      "verify", "Read everything, compare every checksum, look for ids that are there twice");
  command.add_option("--collection", arguments->place.collection, "Folder of the collection")
      .required();
  add_common(command, *arguments);
  command.add_flag("--quiet", arguments->quiet, "No progress");
  command.footer("Example:\n  farvec collection verify --collection set");
  command.callback([arguments] { verify(*arguments); });
}

}  // namespace farvec::cli
