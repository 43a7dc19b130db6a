#include "tiers/attach/index_attributes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/unreachable_error.h"
#include "layout/collection/index_attributes.h"
#include "search/index/region_fetch.h"
#include "search/index/row_attributes.h"
#include "tiers/attach/held_tuples.h"

namespace farvec::tiers {
namespace {

/// The numbers of the files, whose regions follow after those of the index.
constexpr std::uint32_t kSchemaFile = 0;
constexpr std::uint32_t kAttributesFile = 1;

class Fetching {
 public:
  Fetching(std::shared_ptr<PlacedNodes> nodes, const search::FetchOptions& options)
      : nodes_(std::move(nodes)), options_(options), source_(source_of(*nodes_)) {}

  void give(search::SearchIndex& index) {
    layout::require_index_files(nodes_->file_bytes(), nodes_->manifest(), source_);
    auto attributes = read_attributes();
    if (index.must_find_rows() && !find_rows(index, attributes->schema())) return;
    index.set_attributes(std::move(attributes));
  }

 private:
  /// Returns "the index on the memory node at ADDRESS, ADDRESS".
  static std::string source_of(const PlacedNodes& nodes) {
    std::string text;
    for (const rpc::Address& address : nodes.options().addresses) {
      text += (text.empty() ? "" : ", ") + rpc::to_string(address);
    }
    return "the index on the memory node at " + text;
  }

  std::uint32_t region_of(std::uint32_t file) const {
    return nodes_->manifest().held_regions() + file;
  }

  search::FetchBound bound(std::uint64_t bytes) const {
    const double seconds =
        options_.deadline_seconds + static_cast<double>(bytes) / options_.least_bytes_per_second;
    return {now_ticks() + us_to_ticks(seconds * 1e6), options_.stop, options_.on_bytes};
  }

  /// Each piece comes through an endpoint of its own, which knows its memory and ends before it.
  HugeBuffer fetch(std::uint32_t file) const {
    const std::uint64_t bytes = nodes_->file_bytes().at(file);
    const auto endpoint = nodes_->make_endpoint();
    HugeBuffer read = search::fetch_bytes(region_of(file), bytes, *endpoint, bound(bytes));
    endpoint->close();
    return read;
  }

  HugeBuffer fetch_records() const {
    const layout::Manifest& manifest = nodes_->manifest();
    const std::uint64_t bytes = manifest.region(layout::kRecordsRegion).file_bytes();
    const auto endpoint = nodes_->make_endpoint();
    HugeBuffer read =
        search::fetch_region(manifest, layout::kRecordsRegion, *endpoint, bound(bytes));
    endpoint->close();
    return read;
  }

  std::shared_ptr<const search::RowAttributes> read_attributes() const {
    const HugeBuffer schema_bytes = fetch(kSchemaFile);
    const HugeBuffer bytes = fetch(kAttributesFile);
    const layout::IndexAttributesBytes files{schema_bytes.span(), bytes.span()};
    const layout::Manifest& manifest = nodes_->manifest();
    const layout::Schema schema = layout::decode_index_schema(files, manifest, source_);
    const layout::Tuples all = layout::decode_index_tuples(files, manifest, schema, source_);
    auto held = std::make_unique<const HeldTuples>(place(), all.view());
    return std::make_shared<const search::RowAttributes>(std::move(held), all.view(), schema);
  }

  HeldPlace place() const {
    const PlacedNodesOptions& options = nodes_->options();
    HeldPlace place{.nodes = nodes_,
                    .region = region_of(kAttributesFile),
                    .copies = {},
                    .patience = options.attach.call_timeout,
                    .name = "the index"};
    for (const rpc::Address& address : options.addresses) {
      place.copies.push_back(options.attach);
      place.copies.back().memory_node = address;
      place.copies.back().await_listener = false;
    }
    return place;
  }

  /// False: not all records are there.
  bool find_rows(search::SearchIndex& index, const layout::Schema& schema) const {
    try {
      index.find_rows(fetch_records().span());
      return true;
    } catch (const UnreachableError& error) {
      if (!nodes_->options().partial || schema.tenant()) throw;
      spdlog::warn(
          "no conditions are taken: where each row is could not be read from all records of {}: {}",
          source_, error.what());
      return false;
    }
  }

  const std::shared_ptr<PlacedNodes> nodes_;
  const search::FetchOptions& options_;
  const std::string source_;
};

}  // namespace

void fetch_attributes(const std::shared_ptr<PlacedNodes>& nodes,
                      const search::FetchOptions& options, search::SearchIndex& index) {
  if (nodes->file_bytes().empty()) return;
  Fetching(nodes, options).give(index);
}

}  // namespace farvec::tiers
