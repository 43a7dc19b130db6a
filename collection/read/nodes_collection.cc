// This file is a collection on memory nodes, for readers that do not see its folder.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "collection/nodes/log_place.h"
#include "collection/read/collection_source.h"
#include "collection/segment/segment_on_nodes.h"
#include "layout/collection/catalogue.h"
#include "tiers/attach/held_file.h"
#include "tiers/attach/segment_host.h"

namespace farvec::collection {
namespace {

/// A writer brings the next catalogue to the nodes before it drops what only the last one names,
/// and a writer that was killed in between leaves both.
constexpr std::chrono::milliseconds kDelay{500};

std::string number_text(std::uint64_t collection) {
  return fmt::format("{:016x}", collection);
}

std::string list(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A catalogue on one of the nodes.
struct Held {
  std::size_t node = 0;
  tiers::SegmentHost::HeldCatalogue catalogue;
};

class NodesCollection final : public CollectionSource {
 public:
  NodesCollection(std::shared_ptr<const SegmentNodes> nodes, std::string wanted)
      : nodes_(std::move(nodes)), wanted_(std::move(wanted)), name_("nodes:" + wanted_) {
    for (std::size_t i = 0; i < nodes_->options().nodes.size(); ++i) {
      hosts_.push_back(std::make_unique<tiers::SegmentHost>(nodes_->attach_options(i, {})));
    }
  }

  const std::string& name() const override { return name_; }
  layout::CollectionManifest manifest() override;
  std::vector<View::Bulk> open(const SegmentAccess& access, const View& known,
                               const Segment::OnChunk& on_chunk) override;
  std::shared_ptr<wal::LogSource> log(const LogNodes* nodes) override {
    return log_source(name_, catalogue_->manifest, nodes);
  }
  std::chrono::milliseconds delay() const override { return kDelay; }
  /// The interval is longer because a call asks every node.
  std::chrono::milliseconds interval() const override { return std::chrono::milliseconds{100}; }

 private:
  bool is_wanted(const tiers::SegmentHost::HeldCatalogue& held) const;
  std::vector<Held> find(std::string& failures);
  layout::Catalogue read(const Held& held) const;

  const std::shared_ptr<const SegmentNodes> nodes_;
  const std::string wanted_;
  const std::string name_;
  std::vector<std::unique_ptr<tiers::SegmentHost>> hosts_;
  std::optional<std::uint64_t> collection_;  ///< set since it was found the first time
  std::optional<layout::Catalogue> catalogue_;
};

bool NodesCollection::is_wanted(const tiers::SegmentHost::HeldCatalogue& held) const {
  if (collection_) return held.collection == *collection_;
  return wanted_.empty() || held.name == wanted_ || number_text(held.collection) == wanted_;
}

/// Returns the catalogues, the newest first.
std::vector<Held> NodesCollection::find(std::string& failures) {
  std::vector<Held> found;
  std::set<std::string> numbers;
  std::set<std::string> others;
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    try {
      for (auto& held : hosts_[node]->catalogues()) {
        if (!is_wanted(held)) {
          others.insert(held.name);
          continue;
        }
        numbers.insert(fmt::format("{} ('{}')", number_text(held.collection), held.name));
        found.push_back({node, std::move(held)});
      }
    } catch (const UnreachableError& error) {
      failures += fmt::format("; {}", error.what());
    }
  }
  if (numbers.size() > 1) {
    throw Error("'{}' may be each of {}: name it by its number, nodes:0123456789abcdef", name_,
                list(numbers));
  }
  if (!others.empty()) failures += fmt::format("; they have {}", list(others));
  std::stable_sort(found.begin(), found.end(), [](const Held& a, const Held& b) {
    return a.catalogue.revision > b.catalogue.revision;
  });
  return found;
}

layout::Catalogue NodesCollection::read(const Held& held) const {
  const layout::SegmentKey key{held.catalogue.collection, layout::kCatalogueNumber};
  const tiers::AttachOptions options = nodes_->attach_options(held.node, key);
  const tiers::HeldFiles held_now = tiers::fetch_held_files(options);
  const std::string source =
      fmt::format("the catalogue of collection {} on the memory node at {}",
                  number_text(key.collection), rpc::to_string(options.memory_node));
  layout::Catalogue catalogue = layout::decode_catalogue(held_now.files.at(0).span(), source);
  if (catalogue.manifest.segments_on_nodes == key.collection) return catalogue;
  throw Error("{} is that of {}", source, number_text(catalogue.manifest.segments_on_nodes));
}

layout::CollectionManifest NodesCollection::manifest() {
  std::string failures;
  const std::vector<Held> held = find(failures);
  for (const Held& at : held) {
    if (catalogue_ && at.catalogue.revision <= catalogue_->manifest.revision) break;
    try {
      layout::Catalogue read_now = read(at);
      // It may be another one than was listed, and is then a later one.
      if (!catalogue_ || read_now.manifest.revision > catalogue_->manifest.revision) {
        catalogue_ = std::move(read_now);
        collection_ = at.catalogue.collection;
      }
      return catalogue_->manifest;
    } catch (const Error& error) {
      spdlog::warn("{}", error.what());
      failures += fmt::format("; {}", error.what());
    }
  }
  const bool newer = !held.empty() && catalogue_ &&
                     held.front().catalogue.revision > catalogue_->manifest.revision;
  if (catalogue_ && !held.empty() && !newer) return catalogue_->manifest;
  throw UnreachableError("{} of {} memory nodes have the collection '{}'{}", held.size(),
                         hosts_.size(), name_, failures);
}

std::vector<View::Bulk> NodesCollection::open(const SegmentAccess& access, const View& known,
                                              const Segment::OnChunk& on_chunk) {
  SegmentAccess segments = access;
  segments.collection = *collection_;
  std::vector<View::Bulk> parts;
  for (std::size_t i = 0; i < catalogue_->segments.size(); ++i) {
    const layout::SegmentEntry& entry = catalogue_->manifest.segments[i];
    const layout::CatalogueSegment& held = catalogue_->segments[i];
    std::shared_ptr<Segment> segment = find_segment(known, entry.number);
    if (segment == nullptr) {
      const WantedSegment wanted{entry, held, catalogue_->manifest.schema};
      segment = fetch_segment(wanted, segments, on_chunk);
    }
    parts.push_back({std::move(segment), std::make_shared<const RowSet>(held.out),
                     std::make_shared<const layout::UpdatedTuples>(held.updates)});
  }
  return parts;
}

}  // namespace

std::shared_ptr<CollectionSource> nodes_collection(std::shared_ptr<const SegmentNodes> nodes,
                                                   const std::string& name) {
  return std::make_shared<NodesCollection>(std::move(nodes), name);
}

}  // namespace farvec::collection
