#include "ssd_baseline/paged/graph/check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "graph/hnsw/handle_set.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "layout/hnsw/id_map.h"
#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

constexpr double kCheckLimitUs = 600e6;  ///< for one page

class Checker {
 public:
  Checker(PagedHnsw& hnsw, PageFetcher& fetcher, HnswCheckReport& report, bool quiet)
      : hnsw_(hnsw),
        fetcher_(fetcher),
        report_(report),
        map_{hnsw.shape().page_bytes},
        progress_("verifying pages", std::uint64_t{2} * hnsw.store().pages(), quiet) {}

  void run() {
    read_state();
    each_page([&](PageNumber page, std::span<const std::byte> bytes) { list_page(page, bytes); });
    std::sort(ids_.begin(), ids_.end());
    each_page([&](PageNumber page, std::span<const std::byte> bytes) { check_edges(page, bytes); });
    count_lost();
    check_counts();
    check_id_map();
    check_free_list();
    check_partitions();
  }

 private:
  struct Vertex {
    graph::Handle handle = 0;
    NodeId id = 0;
    std::uint8_t level = 0;
    bool marked = false;
    bool named = false;  ///< a list of the lowest layer names it
  };

  template <typename... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    if (report_.problem_count++ < HnswCheckReport::kMostProblems) {
      report_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
  }

  /// Calls look(bytes) with the page. False when the page's bytes are damaged.
  template <typename Look>
  bool look_at(PageNumber page, Look&& look) {
    FetchCounts counts;
    const auto pin = fetcher_.fetch(page, now_ticks() + us_to_ticks(kCheckLimitUs), counts);
    if (pin.ok()) {
      pin.value().read(look);
      return true;
    }
    if (pin.status().code() != StatusCode::data_loss) {
      throw Error("page {} cannot be read: {}", page, pin.status().message());
    }
    problem("page {}: {}", page, pin.status().message());
    return false;
  }
  template <typename Look>
  void each_page(Look&& look) {
    for (PageNumber page = 0; page < hnsw_.store().pages(); ++page) {
      look_at(page, [&](std::span<const std::byte> bytes) { look(page, bytes); });
      progress_.advance(1);
    }
  }

  void read_state();
  void list_page(PageNumber page, std::span<const std::byte> bytes);
  void list_vertex(const layout::HnswPlace& place, std::span<const std::byte> bytes);
  void check_edges(PageNumber page, std::span<const std::byte> bytes);
  void check_list(const layout::HnswPlace& place, const layout::HnswVertex& vertex,
                  std::uint32_t layer);
  void count_lost();
  void check_counts();
  void check_id_map();
  void check_id_page(PageNumber page, std::uint32_t height, std::uint64_t first_id);
  void check_id_entry(std::uint64_t id, layout::HnswPlace place);
  void check_free_list();
  void check_partitions();
  void check_insert_page(std::uint32_t partition, PageNumber page);
  Vertex* find(graph::Handle handle) {
    const auto at = std::lower_bound(vertices_.begin(), vertices_.end(), handle,
                                     [](const Vertex& v, graph::Handle h) { return v.handle < h; });
    return at != vertices_.end() && at->handle == handle ? &*at : nullptr;
  }

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  HnswCheckReport& report_;
  const layout::IdMapShape map_;
  Progress progress_;
  layout::HnswState state_;
  std::vector<Vertex>
      vertices_;             ///< sorted by handle: pages and slots are looked at in their order
  std::vector<NodeId> ids_;  ///< ids of vertices that are not marked
  std::array<std::uint64_t, layout::kHnswPageKinds> kinds_{};
  std::uint64_t listed_ = 0;  ///< pages that say that they are in the list of free space
  std::uint64_t id_pages_ = 0;
  std::vector<graph::Handle> handles_;
};

void Checker::read_state() {
  look_at(0, [&](std::span<const std::byte> bytes) {
    const auto meta = layout::read_hnsw_meta(bytes);
    if (!meta.ok()) return problem("page 0: {}", meta.status().message());
    state_ = meta.value().state;
  });
}

void Checker::list_page(PageNumber page, std::span<const std::byte> bytes) {
  const layout::StorePage tuples(bytes);
  const auto header = tuples.header();
  if (header.kind >= layout::kHnswPageKinds) {
    return problem("page {} is of an unknown kind, {}", page, header.kind);
  }
  ++kinds_[header.kind];
  if (header.kind != static_cast<std::uint16_t>(layout::HnswPageKind::vertices)) return;
  listed_ += (header.tag & layout::kHnswFreeListBit) != 0 ? 1 : 0;
  std::uint32_t used = 0;
  const std::size_t before = vertices_.size();
  for (std::uint32_t slot = 0; slot < tuples.slots(); ++slot) {
    used += tuples.tuple(slot).empty() ? 0 : 1;
    list_vertex({page, static_cast<std::uint16_t>(slot)}, bytes);
  }
  if (used != 2 * (vertices_.size() - before)) {
    problem("page {} holds {} tuples of {} vertices", page, used, vertices_.size() - before);
  }
}

void Checker::list_vertex(const layout::HnswPlace& place, std::span<const std::byte> bytes) {
  const auto parsed = layout::HnswVertex::parse(hnsw_.shape(), bytes, place.slot);
  if (parsed.status().code() == StatusCode::not_found) return;
  if (!parsed.ok()) {
    return problem("page {} slot {}: {}", place.page, place.slot, parsed.status().message());
  }
  const layout::HnswVertex& vertex = parsed.value();
  const auto level = static_cast<std::uint8_t>(vertex.level());
  vertices_.push_back({place.handle(), vertex.id(), level, vertex.marked()});
  ++(vertex.marked() ? report_.marked : report_.vertices);
  if (!vertex.marked()) ids_.push_back(vertex.id());
  if (report_.layers.size() <= level) report_.layers.resize(level + 1u);
  for (std::uint32_t layer = 0; layer <= level; ++layer) ++report_.layers[layer];
}

void Checker::check_edges(PageNumber page, std::span<const std::byte> bytes) {
  const layout::StorePage tuples(bytes);
  for (std::uint32_t slot = 0; slot < tuples.slots(); ++slot) {
    const layout::HnswPlace place{page, static_cast<std::uint16_t>(slot)};
    const auto vertex = layout::HnswVertex::parse(hnsw_.shape(), bytes, place.slot);
    if (!vertex.ok()) continue;
    for (std::uint32_t layer = 0; layer <= vertex.value().level(); ++layer) {
      check_list(place, vertex.value(), layer);
    }
  }
}

void Checker::check_list(const layout::HnswPlace& place, const layout::HnswVertex& vertex,
                         std::uint32_t layer) {
  const std::string name =
      fmt::format("{} {}", vertex.marked() ? "the deleted vertex" : "vertex", vertex.id());
  handles_.clear();
  for (std::uint32_t i = 0; i < hnsw_.shape().degree(layer); ++i) {
    const auto to = vertex.neighbor(hnsw_.shape(), layer, i);
    if (to.empty()) continue;
    ++report_.edges;
    handles_.push_back(to.handle());
    Vertex* other = find(to.handle());
    if (other == nullptr) {
      problem("{} leads to page {} slot {}, where no vertex is", name, to.page, to.slot);
    } else if (other->level < layer) {
      problem("{} leads to {} on layer {}, which that is not on", name, other->id, layer);
    } else {
      report_.edges_to_marked += other->marked ? 1 : 0;
      other->named = other->named || layer == 0;
    }
    if (to == place) problem("{} leads to itself", name);
  }
  std::sort(handles_.begin(), handles_.end());
  if (std::adjacent_find(handles_.begin(), handles_.end()) != handles_.end()) {
    problem("{} names another twice on layer {}", name, layer);
  }
}

void Checker::count_lost() {
  const graph::Handle entry = state_.entry().handle();
  for (const Vertex& vertex : vertices_) {
    const bool lost = !vertex.marked && !vertex.named && vertex.handle != entry;
    report_.lost += lost ? 1 : 0;
  }
}

void Checker::check_counts() {
  if (state_.vertices != report_.vertices || state_.marked != report_.marked) {
    problem("the meta page counts {} vertices and {} marked ones, there are {} and {}",
            state_.vertices, state_.marked, report_.vertices, report_.marked);
  }
  for (std::size_t kind = 1; kind < kinds_.size(); ++kind) {
    if (state_.pages[kind] == kinds_[kind]) continue;
    problem("the meta page counts {} pages of kind {}, there are {}", state_.pages[kind], kind,
            kinds_[kind]);
  }
  const auto twice = std::adjacent_find(ids_.begin(), ids_.end());
  if (twice != ids_.end()) problem("id {} is there twice", *twice);
  const Vertex* entry = find(state_.entry().handle());
  if (state_.entry().empty() ? report_.vertices > 0 : entry == nullptr) {
    problem("there is no vertex at the entry, page {} slot {}", state_.entry_page,
            state_.entry_slot);
  }
  if (entry != nullptr && entry->level != state_.entry_level) {
    problem("the entry is of level {}, the meta page says {}", entry->level, state_.entry_level);
  }
}

void Checker::check_id_map() {
  if (state_.id_map != layout::kNoPage) check_id_page(state_.id_map, state_.id_map_height, 0);
  if (report_.id_map_entries != report_.vertices) {
    problem("the id map names {} vertices, there are {}", report_.id_map_entries, report_.vertices);
  }
  const std::uint64_t pages = kinds_[static_cast<std::size_t>(layout::HnswPageKind::id_map)];
  if (id_pages_ != pages) {
    problem("the id map reaches {} of its {} pages", id_pages_, pages);
  }
}

/// When a page is missing, everything under it is missing from the counts too, which is one problem
/// more.
void Checker::check_id_page(PageNumber page, std::uint32_t height, std::uint64_t first_id) {
  if (page >= hnsw_.store().pages()) {
    return problem("the id map leads to page {}, which does not exist", page);
  }
  std::vector<std::byte> entries;
  look_at(page, [&](std::span<const std::byte> bytes) {
    const auto tuple = layout::id_map_tuple(map_, bytes, height);
    if (!tuple.ok()) return problem("page {}: {}", page, tuple.status().message());
    entries.assign(tuple.value().begin(), tuple.value().end());
  });
  ++id_pages_;
  const std::uint32_t entry_bytes = layout::IdMapShape::entry_bytes(height);
  for (std::size_t i = 0; i < entries.size() / entry_bytes; ++i) {
    const std::uint64_t id = first_id + (std::uint64_t{i} << (map_.bits() * height));
    const std::byte* entry = &entries[i * entry_bytes];
    if (height == 0) {
      check_id_entry(id, layout::load_place(entry));
    } else if (const auto next = load_unaligned<PageNumber>(entry); next != layout::kNoPage) {
      check_id_page(next, height - 1, id);
    }
  }
}

void Checker::check_id_entry(std::uint64_t id, layout::HnswPlace place) {
  if (place.empty()) return;
  ++report_.id_map_entries;
  const Vertex* vertex = find(place.handle());
  if (vertex == nullptr || vertex->id != id || vertex->marked) {
    problem("the id map leads from {} to page {} slot {}, which is not that vertex", id, place.page,
            place.slot);
  }
}

void Checker::check_free_list() {
  PageNumber next = state_.free_pages;
  while (next != layout::kNoPage && report_.free_list_pages <= listed_) {
    const PageNumber page = next;
    next = layout::kNoPage;
    if (page >= hnsw_.store().pages()) {
      return problem("the list of pages with free space leads to page {}, which does not exist",
                     page);
    }
    ++report_.free_list_pages;
    look_at(page, [&](std::span<const std::byte> bytes) {
      const auto header = layout::StorePage(bytes).header();
      if (header.kind != static_cast<std::uint16_t>(layout::HnswPageKind::vertices) ||
          (header.tag & layout::kHnswFreeListBit) == 0) {
        return problem("page {} is in the list of pages with free space and does not say so", page);
      }
      next = header.next;
    });
  }
  if (report_.free_list_pages != listed_) {
    problem("{} pages say that they are in the list of those with free space, it has {}", listed_,
            report_.free_list_pages);
  }
}

void Checker::check_partitions() {
  if (state_.partitions == layout::kNoPage) return;
  const layout::PartitionMapShape shape = hnsw_.partition_map();
  const std::uint32_t pages = state_.pages_of(layout::HnswPageKind::partitions);
  for (std::uint32_t i = 0; i < pages; ++i) {
    std::vector<std::pair<std::uint32_t, PageNumber>> found;
    look_at(state_.partitions + i, [&](std::span<const std::byte> bytes) {
      const auto map = layout::PartitionTuple::parse(shape, layout::StorePage(bytes).tuple(0), i);
      if (!map.ok()) return problem("page {}: {}", state_.partitions + i, map.status().message());
      for (std::uint32_t p = map.value().first(); p < map.value().first() + map.value().count();
           ++p) {
        const PageNumber page = map.value().entry(p).insert_page;
        if (page != layout::kNoPage) found.emplace_back(p, page);
      }
    });
    for (const auto& [partition, page] : found) check_insert_page(partition, page);
    report_.insert_pages += found.size();
  }
  if (!shape.has_counts() || report_.insert_pages == state_.insert_pages) return;
  problem("the meta page counts {} insert pages of partitions, there are {}", state_.insert_pages,
          report_.insert_pages);
}

void Checker::check_insert_page(std::uint32_t partition, PageNumber page) {
  if (page >= hnsw_.store().pages()) {
    return problem("partition {} inserts on page {}, which does not exist", partition, page);
  }
  look_at(page, [&](std::span<const std::byte> bytes) {
    const auto header = layout::StorePage(bytes).header();
    const bool vertices = header.kind == static_cast<std::uint16_t>(layout::HnswPageKind::vertices);
    if (vertices && (header.tag & ~layout::kHnswFreeListBit) == partition + 1) return;
    problem("partition {} inserts on page {}, which is not one of it", partition, page);
  });
}

}  // namespace

HnswCheckReport check_hnsw(PagedHnsw& hnsw, bool quiet) {
  HnswCheckReport report;
  run_on_pages(hnsw.store(),
               [&](PageFetcher& fetcher) { Checker(hnsw, fetcher, report, quiet).run(); });
  return report;
}

}  // namespace farvec::paged
