#include "ssd_baseline/paged/graph/hnsw_loader.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"

namespace farvec::paged {
namespace {

constexpr std::uint32_t kPageOverhead = sizeof(layout::StorePageHeader);
constexpr std::uint32_t kVertexSlotBytes = 2 * sizeof(layout::StoreSlot);

constexpr std::uint16_t kind_of(layout::HnswPageKind kind) {
  return static_cast<std::uint16_t>(kind);
}

}  // namespace

HnswLoader::HnswLoader(PageStore& store, const HnswConfig& config, const HnswContents& contents)
    : store_(store), contents_(contents), tuple_(store.page_bytes()) {
  const graph::LevelRule rule = hnsw_level_rule(config, store.page_bytes());
  meta_.parameters = {.page_bytes = store.page_bytes(),
                      .dimension = config.dimension,
                      .m = config.m,
                      .ef_construction = config.ef_construction,
                      .type = static_cast<std::uint8_t>(config.type),
                      .metric = static_cast<std::uint8_t>(config.metric),
                      .max_level = static_cast<std::uint8_t>(rule.max_level),
                      .seed = config.seed,
                      .most_insert_pages = config.most_insert_pages};
  shape_ = meta_.shape();
  if (contents.graph == nullptr) return;
  if (contents.data.dimension != config.dimension || contents.data.type != config.type) {
    throw Error("the rows are {} dimensions of {}, the graph is to hold {} of {}",
                contents.data.dimension, to_string(contents.data.type), config.dimension,
                to_string(config.type));
  }
  check_rows();
  sort_ids();
  for (NodeId row = 0; row < count(); ++row) {
    if (level(row) == graph::level_of(rule, id_of(row))) continue;
    throw Error("row {} has level {} in the graph: build it by hnsw_level_rule()", row, level(row));
  }
}

void HnswLoader::check_rows() const {
  const HnswPageOrder& order = contents_.order;
  const auto fits = [&](std::size_t size) { return size == 0 || size == count(); };
  if (contents_.graph->count() != count() || !fits(contents_.ids.size()) ||
      !fits(order.rows.size())) {
    throw Error("{} rows, {} in the graph, {} ids and an order of {} do not go together", count(),
                contents_.graph->count(), contents_.ids.size(), order.rows.size());
  }
  std::vector<bool> seen(order.rows.empty() ? 0 : count());
  for (const NodeId row : order.rows) {
    if (row >= count() || seen[row]) throw Error("row {} is in the order of pages twice", row);
    seen[row] = true;
  }
  const auto& begins = order.page_begins;
  if (!begins.empty() &&
      (begins.front() != 0 || begins.back() >= std::max<std::size_t>(count(), 1) ||
       !std::is_sorted(begins.begin(), begins.end()))) {
    throw Error("the beginnings of pages do not ascend from 0 to below {}", count());
  }
  if (!order.partitions.empty() && order.partitions.size() != begins.size()) {
    throw Error("{} partitions for {} beginnings of pages", order.partitions.size(), begins.size());
  }
}

void HnswLoader::sort_ids() {
  for (NodeId row = 0; row < count(); ++row) sorted_.emplace_back(id_of(row), row);
  std::sort(sorted_.begin(), sorted_.end());
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (sorted_[i].first == kInvalidNode) throw Error("4294967295 is no id");
    if (i > 0 && sorted_[i].first == sorted_[i - 1].first) {
      throw Error("rows {} and {} have the same id, {}", sorted_[i - 1].second, sorted_[i].second,
                  sorted_[i].first);
    }
  }
}

void HnswLoader::run() {
  write_meta(true);
  if (contents_.graph != nullptr && count() > 0) {
    assign_places();
    for (std::size_t page = 0; page < pages_.size(); ++page) write_vertices(page);
    write_id_map();
    const NodeId entry = contents_.graph->entry();
    meta_.state.set_entry(places_[entry], level(entry));
    meta_.state.vertices = static_cast<std::uint32_t>(count());
    meta_.state.insert_page = static_cast<PageNumber>(pages_.size());
  }
  write_meta(false);
  if (Status status = store_.checkpoint(); !status.ok()) {
    throw Error("the graph cannot be written: {}", status.message());
  }
}

/// Decides the places. Pages of vertices begin after the meta page.
void HnswLoader::assign_places() {
  const HnswPageOrder& order = contents_.order;
  places_.resize(count());
  std::uint32_t room = 0;
  std::size_t next_begin = 0;
  std::uint32_t tag = 0;
  for (std::size_t at = 0; at < count(); ++at) {
    const NodeId row = row_at(at);
    const std::uint32_t bytes = shape_.vertex_bytes(level(row)) + kVertexSlotBytes;
    bool begins = pages_.empty() || bytes > room;
    for (; next_begin < order.page_begins.size() && order.page_begins[next_begin] == at;
         ++next_begin) {
      begins = true;
      tag = order.partitions.empty() ? 0 : order.partitions[next_begin] + 1;
    }
    if (begins) {
      pages_.push_back({at, tag});
      room = shape_.page_bytes - kPageOverhead;
    }
    room -= bytes;
    const auto slot = static_cast<std::uint16_t>(2 * (at - pages_.back().begin));
    places_[row] = {static_cast<PageNumber>(pages_.size()), slot};
  }
  meta_.state.pages_of(layout::HnswPageKind::vertices) = static_cast<std::uint32_t>(pages_.size());
}

void HnswLoader::write_page(PageNumber expected, const std::function<Status(PageEditor&)>& edit) {
  auto pin = store_.add_page();
  if (!pin.ok()) throw Error("page {} cannot be added: {}", expected, pin.status().message());
  FARVEC_CHECK(pin.value().number() == expected);
  PagePin* pins[] = {&pin.value()};
  const auto done = store_.update(pins, edit);
  if (!done.ok()) throw Error("page {} cannot be written: {}", expected, done.status().message());
}

void HnswLoader::write_vertices(std::size_t page) {
  const std::size_t end = page + 1 < pages_.size() ? pages_[page + 1].begin : count();
  write_page(static_cast<PageNumber>(page + 1), [&](PageEditor& editor) -> Status {
    editor.init(0, kind_of(layout::HnswPageKind::vertices), pages_[page].tag, layout::kNoPage);
    for (std::size_t at = pages_[page].begin; at < end; ++at) {
      if (Status status = put_row(editor, row_at(at)); !status.ok()) return status;
    }
    return {};
  });
}

Status HnswLoader::put_row(PageEditor& editor, NodeId row) {
  const std::uint16_t slot = places_[row].slot;
  const auto neighbors_slot = static_cast<std::uint16_t>(slot + 1);
  const auto row_level = static_cast<std::uint8_t>(level(row));
  const auto element = std::span(tuple_).first(shape_.element_bytes());
  layout::encode_element(shape_,
                         {.level = row_level, .id = id_of(row), .neighbors = neighbors_slot},
                         contents_.data.row(row), element);
  if (Status status = editor.put(0, slot, element); !status.ok()) return status;
  const auto lists = std::span(tuple_).first(shape_.neighbors_bytes(row_level));
  layout::encode_no_neighbors({.level = row_level, .element = slot}, lists);
  for (std::uint32_t layer = 0; layer <= row_level; ++layer) {
    std::uint32_t i = 0;
    for (const NodeId neighbor : contents_.graph->neighbors(row, layer)) {
      FARVEC_CHECK(i < shape_.degree(layer));
      layout::store_place(&lists[shape_.place_offset(layer, i++)], places_[neighbor]);
    }
  }
  return editor.put(0, neighbors_slot, lists);
}

/// Writes the leaves first, then the pages above them.
void HnswLoader::write_id_map() {
  std::vector<std::pair<NodeId, PageNumber>> pages = write_id_pages({}, 0);
  const layout::IdMapShape map{shape_.page_bytes};
  std::uint32_t height = 0;
  while (!map.reaches(height, sorted_.back().first)) pages = write_id_pages(pages, ++height);
  meta_.state.id_map = pages.front().second;
  meta_.state.id_map_height = height;
}

/// Writes one row of the tree, and returns the first id of each page, and the page. `below` is the
/// row under it.
std::vector<std::pair<NodeId, PageNumber>> HnswLoader::write_id_pages(
    std::span<const std::pair<NodeId, PageNumber>> below, std::uint32_t height) {
  const layout::IdMapShape map{shape_.page_bytes};
  const auto same_page = [&](NodeId a, NodeId b) {
    const std::uint32_t known = map.bits() * (height + 1);
    return known >= 32 || (a >> known) == (b >> known);
  };
  std::vector<std::pair<NodeId, PageNumber>> pages;
  const std::size_t size = height == 0 ? sorted_.size() : below.size();
  const auto id_at = [&](std::size_t i) { return height == 0 ? sorted_[i].first : below[i].first; };
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    const auto tuple = std::span(tuple_).first(map.tuple_bytes(height));
    std::fill(tuple.begin(), tuple.end(), std::byte{0xff});
    for (end = begin; end < size && same_page(id_at(begin), id_at(end)); ++end) {
      std::byte* entry = &tuple[map.offset(height, id_at(end))];
      if (height == 0) {
        layout::store_place(entry, places_[sorted_[end].second]);
      } else {
        store_unaligned(entry, below[end].second);
      }
    }
    pages.emplace_back(id_at(begin), store_.pages());
    write_page(store_.pages(), [&](PageEditor& editor) -> Status {
      editor.init(0, kind_of(layout::HnswPageKind::id_map), height, layout::kNoPage);
      return editor.put(0, 0, tuple);
    });
  }
  meta_.state.pages_of(layout::HnswPageKind::id_map) += static_cast<std::uint32_t>(pages.size());
  return pages;
}

void HnswLoader::write_meta(bool first) {
  meta_.state.loaded = first ? 0 : 1;
  meta_.state.pages_of(layout::HnswPageKind::meta) = 1;
  const auto edit = [&](PageEditor& editor) -> Status {
    editor.init(0, kind_of(layout::HnswPageKind::meta), 0, layout::kNoPage);
    return editor.put(0, 0, bytes_of(meta_));
  };
  if (first) return write_page(0, edit);
  Status status;
  run_on_pages(store_, [&](PageFetcher& fetcher) {
    FetchCounts counts;
    auto pin = fetcher.fetch(0, coroutines::kNoDeadline, counts);
    status = pin.status();
    if (!status.ok()) return;
    PagePin* pins[] = {&pin.value()};
    status = store_.update(pins, edit).status();
  });
  if (!status.ok()) throw Error("the meta page cannot be written: {}", status.message());
}

}  // namespace farvec::paged
