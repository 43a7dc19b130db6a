// The commands `farvec collection count` and `list` say which rows of a collection meet a
// condition.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/collection/changed_collection.h"
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_place.h"
#include "cli/interrupt.h"
#include "collection/read/list_rows.h"
#include "indexing/attributes/attributes_json.h"
#include "measure/report/json_text.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct ListArguments {
  CollectionPlace place;
  RemoteCollectionOptions remote;
  std::string filter;
  std::uint64_t from = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  bool json = false;
};

/// Rows that are listed at once.
constexpr std::size_t kPage = 1000;

/// Is a collection that rows are listed of.
struct Listed {
  layout::Schema schema;
  std::function<changes::ListedRows(const changes::Listing&)> list;
};

Listed connected(const ListArguments& arguments) {
  std::shared_ptr<ChangedCollection> node = connect_to_collection(arguments.remote);
  return {node->changes().row_shape().schema, [node](const changes::Listing& asked) {
            return node->changes().list(asked, {.interrupted = interrupted});
          }};
}

/// All pages are of the moment at which the collection was read.
Listed read(const Command& command, const ListArguments& arguments) {
  // It cannot be moved, so that it is made where it stays.
  const std::shared_ptr<const collection::CollectionReader> reader(new collection::CollectionReader(
      open_without_records(open_place(command, arguments.place, arguments.remote.node.tls))));
  return {reader->shape().schema, [reader](const changes::Listing& asked) {
            return list_rows(*reader->view(), asked, interrupted);
          }};
}

Listed open(const Command& command, const ListArguments& arguments) {
  return is_connected(command, arguments.place, arguments.remote.node.address)
             ? connected(arguments)
             : read(command, arguments);
}

void count(const Command& command, const ListArguments& arguments) {
  const InterruptGuard watch;
  const changes::ListedRows rows = open(command, arguments).list({.filter = arguments.filter});
  if (arguments.json) {
    const nlohmann::ordered_json facts{
        {"filter", arguments.filter}, {"matches", rows.matches}, {"version", rows.version}};
    fmt::print("{}\n", measure::json_text(facts));
  } else {
    fmt::print("{}\n", rows.matches);
  }
}

void print(const changes::ListedRows& rows, const layout::Schema& schema, bool json) {
  for (std::size_t i = 0; i < rows.ids.size(); ++i) {
    auto attributes = nlohmann::ordered_json::object();
    if (rows.attributes.count() > 0) {
      attributes = indexing::attributes_json(schema, layout::Tuple(rows.attributes.view().row(i)));
    }
    if (json) {
      nlohmann::ordered_json line{{"id", rows.ids[i]}};
      line.update(attributes);
      fmt::print("{}\n", measure::json_text(line));
    } else {
      fmt::print("{:<20} {}\n", rows.ids[i], measure::json_text(attributes));
    }
  }
}

void list(const Command& command, const ListArguments& arguments) {
  const InterruptGuard watch;
  const Listed listed = open(command, arguments);
  changes::Listing asked{
      .filter = arguments.filter, .from = arguments.from, .attributes = !listed.schema.empty()};
  std::uint64_t left = arguments.most;
  for (bool more = left > 0; more;) {
    asked.most = std::min<std::uint64_t>(kPage, left);
    const changes::ListedRows rows = listed.list(asked);
    print(rows, listed.schema, arguments.json);
    left -= rows.ids.size();
    more = rows.more && left > 0;
    if (more) asked.from = rows.ids.back() + 1;
  }
}

void add_common(Command& command, ListArguments& a) {
  add_place_options(command, a.place);
  command.add_option("--connect", a.remote.node.address,
                     "Compute node that serves the collection: HOST:PORT or unix:/path");
  command.add_option("--filter", a.filter, "Condition that the rows meet [all rows do]");
  rpc::add_tls_flags(command, a.remote.node.tls);
}

}  // namespace

void register_collection_count(Command& collection) {
  auto arguments = std::make_shared<ListArguments>();
  ListArguments& a = *arguments;
  Command command = collection.add_command("count", "Count the vectors that meet a condition");
  add_common(command, a);
  command.add_flag("--json", a.json, "Report as one JSON object");
  command.footer("Example:\n  farvec collection count --collection set --filter \"price is null\"");
  command.callback([arguments, command] { count(command, *arguments); });
}

void register_collection_list(Command& collection) {
  auto arguments = std::make_shared<ListArguments>();
  ListArguments& a = *arguments;
  Command command = collection.add_command(
      "list", "Print ids and attributes, a row in each line, in the order of the ids");
  add_common(command, a);
  command.add_option("--from", a.from, "The least id").show_default();
  command.add_option("--most", a.most, "How many rows [all]");
  command.add_flag("--json", a.json, "Each line is a JSON object, which has the id too");
  command.footer(
      "Example:\n  farvec collection list --collection set --filter \"section = 'libs'\" --most "
      "10");
  command.callback([arguments, command] { list(command, *arguments); });
}

}  // namespace farvec::cli
