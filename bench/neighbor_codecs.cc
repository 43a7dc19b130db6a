// Bits per edge and nanoseconds per neighbour list of StreamVByte (layout's codec), plain
// Elias-Fano and differences packed by bits, decoded from the cache, on the lists of an index: with
// its vertices in the order of the rows, by bisection of the graph, or by halving the vectors.
//   build/release/bin/neighbor_codecs --index DIR --order bisection
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "bench/run_bench.h"
#include "distance/distance.h"
#include "graph/vertex_order.h"
#include "indexing/stored_graph.h"
#include "layout/graph/neighbor_list.h"
#include "layout/index/index_directory.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

#if defined(__x86_64__)
#define FARVEC_BMI __attribute__((target("bmi,bmi2")))
#else
#define FARVEC_BMI
#endif

namespace farvec {
namespace {

/// Every list of the index, decoded, one after another.
struct Lists {
  std::vector<std::uint64_t> begins{0};
  std::vector<NodeId> ids;
  std::size_t count() const { return begins.size() - 1; }
  std::span<const NodeId> of(std::size_t i) const {
    return std::span(ids).subspan(begins[i], begins[i + 1] - begins[i]);
  }
};

Lists lists_of(const AdjacencyView& graph) {
  Lists lists;
  for (std::size_t v = 0; v < graph.count; ++v) {
    lists.ids.insert(lists.ids.end(), graph.row(v), graph.row(v) + graph.degrees[v]);
    lists.begins.push_back(lists.ids.size());
  }
  return lists;
}

/// Rows next to each other are near each other: halves of the rows by their place between the means
/// of two groups, and halves of those (a k-d tree along the directions in which the rows differ).
class VectorOrder {
 public:
  explicit VectorOrder(const VectorView& rows) : rows_(rows), order_(rows.count) {
    std::iota(order_.begin(), order_.end(), NodeId{0});
    place_.resize(rows.count);
    divide(order_);
  }
  std::span<const NodeId> order() const { return order_; }

 private:
  static constexpr std::size_t kSample = 256;
  static constexpr int kRounds = 4;

  std::vector<float> row(NodeId v) const {
    std::vector<float> out(rows_.dimension);
    distance::widen(rows_.row(v), rows_.type, rows_.dimension, out.data());
    return out;
  }
  static float dot(const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
  }

  void divide(std::span<NodeId> part) {
    if (part.size() <= 32) return;
    const std::vector<float> direction = direction_of(part);
    for (const NodeId v : part) place_[v] = dot(direction, row(v));
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    std::nth_element(part.begin(), middle, part.end(), [&](NodeId a, NodeId b) {
      return place_[a] < place_[b] || (place_[a] == place_[b] && a < b);
    });
    divide(part.first(part.size() / 2));
    divide(part.subspan(part.size() / 2));
  }

  /// The difference of the two means of a sample.
  std::vector<float> direction_of(std::span<const NodeId> part) {
    std::vector<std::vector<float>> sample(kSample);
    for (auto& one : sample) one = row(part[random_.below(part.size())]);
    std::vector<float> direction(rows_.dimension);
    for (std::size_t d = 0; d < direction.size(); ++d) direction[d] = sample[0][d] - sample[1][d];
    for (int round = 0; round < kRounds; ++round) {
      std::vector<float> places;
      places.reserve(kSample);
      for (const auto& one : sample) places.push_back(dot(direction, one));
      std::vector<float> sorted = places;
      std::nth_element(sorted.begin(), sorted.begin() + kSample / 2, sorted.end());
      std::fill(direction.begin(), direction.end(), 0.0f);
      for (std::size_t i = 0; i < kSample; ++i) {
        const float sign = places[i] < sorted[kSample / 2] ? -1.0f : 1.0f;
        for (std::size_t d = 0; d < direction.size(); ++d) direction[d] += sign * sample[i][d];
      }
    }
    return direction;
  }

  const VectorView rows_;
  std::vector<NodeId> order_;
  std::vector<float> place_;
  Random random_{7};
};

/// The lists of an index whose records are read one by one, with its vertices in some order.
Lists read_ordered(const layout::IndexDirectory& index, const std::string& order) {
  const indexing::StoredGraph stored = indexing::read_graph(index, {.quiet = true});
  const AdjacencyView graph = stored.graph.view();
  const auto start = std::chrono::steady_clock::now();
  std::vector<NodeId> vertices(graph.count);
  std::iota(vertices.begin(), vertices.end(), NodeId{0});
  if (order == "bisection") {
    vertices = graph::bisection_order(graph);
  } else if (order == "vectors") {
    const VectorOrder by_vectors(stored.rows.view());
    std::copy(by_vectors.order().begin(), by_vectors.order().end(), vertices.begin());
  } else if (order != "rows") {
    throw Error("--order '{}' is unknown: use rows, bisection or vectors", order);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("order {}, found in {:.1f} s: ", order, took.count());
  return lists_of(graph::reordered(graph, vertices).view());
}

Lists read_pages(const layout::IndexDirectory& index) {
  const layout::SlottedGeometry geometry = index.manifest().slotted_geometry();
  const HugeBuffer pages = index.load_region(layout::kRecordsRegion, {.quiet = true});
  std::vector<NodeId> scratch(geometry.scratch_ids());
  Lists lists;
  for (std::uint32_t p = 0; p < geometry.pages; ++p) {
    const auto page = layout::SlottedPage::parse(
        geometry, p, pages.span().subspan(geometry.page_offset(p), geometry.page_bytes));
    if (!page.ok()) throw Error("page {}: {}", p, page.status().message());
    for (std::uint32_t i = 0; i < page.value().count(); ++i) {
      const auto record = layout::decode_slotted_record(
          geometry, page.value().record(page.value().slot(i)), scratch);
      if (!record.ok()) throw Error("page {}: {}", p, record.status().message());
      lists.ids.insert(lists.ids.end(), scratch.begin(), scratch.begin() + record.value().degree);
      lists.begins.push_back(lists.ids.size());
    }
  }
  return lists;
}

/// Low bits side by side, then the high bits in unary: bit (id >> low_bits) + i for the i-th id.
struct EliasFano {
  std::uint32_t universe;

  std::uint32_t low_bits(std::size_t degree) const {
    return degree == 0 || universe / degree == 0
               ? 0
               : static_cast<std::uint32_t>(std::bit_width(universe / degree)) - 1;
  }
  std::size_t low_bytes(std::size_t degree) const { return (degree * low_bits(degree) + 7) / 8; }
  std::size_t bytes(std::span<const NodeId> ids) const {
    if (ids.empty()) return 0;
    const std::size_t high = (ids.back() >> low_bits(ids.size())) + ids.size();
    return low_bytes(ids.size()) + (high + 7) / 8;
  }
  void encode(std::span<const NodeId> ids, std::byte* out) const {
    const std::uint32_t low = low_bits(ids.size());
    const std::size_t high_at = 8 * low_bytes(ids.size());
    const auto set = [&](std::size_t bit) { out[bit / 8] |= std::byte{1} << (bit % 8); };
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::uint32_t b = 0; b < low; ++b) {
        if (ids[i] >> b & 1) set(i * low + b);
      }
      set(high_at + (ids[i] >> low) + i);
    }
  }
  /// May read 8 bytes behind the list.
  FARVEC_BMI void decode(const std::byte* list, std::uint32_t degree, NodeId* out) const {
    const std::uint32_t low = low_bits(degree);
    const NodeId mask = (NodeId{1} << low) - 1;
    const std::byte* high = list + low_bytes(degree);
    std::uint32_t i = 0;
    for (std::uint32_t base = 0; i < degree; base += 64, high += 8) {
      auto word = load_unaligned<std::uint64_t>(high);
      for (; word != 0 && i < degree; word &= word - 1, ++i) {
        const auto bit = base + static_cast<std::uint32_t>(std::countr_zero(word));
        const std::uint32_t at = i * low;
        const auto bits = load_unaligned<std::uint64_t>(list + at / 8) >> (at % 8);
        out[i] = (bit - i) << low | (static_cast<NodeId>(bits) & mask);
      }
    }
  }
};

/// Differences to the id before, each in as many bits as the list's largest needs; a byte says how
/// many.
struct PackedBits {
  static std::uint32_t width(std::span<const NodeId> ids) {
    NodeId all = 0;
    NodeId before = 0;
    for (const NodeId id : ids) {
      all |= id - before;
      before = id;
    }
    return static_cast<std::uint32_t>(std::bit_width(all));
  }
  static std::size_t bytes(std::span<const NodeId> ids) {
    return 1 + (ids.size() * width(ids) + 7) / 8;
  }
  static void encode(std::span<const NodeId> ids, std::byte* out) {
    const std::uint32_t bits = width(ids);
    out[0] = static_cast<std::byte>(bits);
    NodeId before = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const NodeId difference = ids[i] - before;
      before = ids[i];
      for (std::uint32_t b = 0; b < bits; ++b) {
        const std::size_t at = i * bits + b;
        if (difference >> b & 1) out[1 + at / 8] |= std::byte{1} << (at % 8);
      }
    }
  }
  /// May read 8 bytes behind the list.
  FARVEC_BMI static void decode(const std::byte* list, std::uint32_t degree, NodeId* out) {
    const auto bits = static_cast<std::uint32_t>(list[0]);
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    NodeId id = 0;
    for (std::uint32_t i = 0; i < degree; ++i) {
      const std::uint32_t at = i * bits;
      id +=
          static_cast<NodeId>(load_unaligned<std::uint64_t>(list + 1 + at / 8) >> (at % 8) & mask);
      out[i] = id;
    }
  }
};

struct Encoded {
  std::vector<std::uint64_t> begins{0};
  std::vector<std::byte> bytes;
};

template <typename Bytes, typename Encode>
Encoded encode_all(const Lists& lists, const Bytes& bytes_of, const Encode& encode) {
  Encoded encoded;
  for (std::size_t i = 0; i < lists.count(); ++i) {
    encoded.begins.push_back(encoded.begins.back() + bytes_of(lists.of(i)));
  }
  encoded.bytes.resize(encoded.begins.back() + 64);
  for (std::size_t i = 0; i < lists.count(); ++i) {
    encode(lists.of(i), encoded.bytes.data() + encoded.begins[i]);
  }
  return encoded;
}

/// Median of nine passes, in ns per list.
template <typename Decode>
double measure(const std::vector<std::uint32_t>& order, const Decode& decode) {
  std::vector<NodeId> out(4096);
  std::vector<double> passes;
  for (int pass = 0; pass < 9; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < order.size(); ++i) {
      decode(order[i], out.data());
      asm volatile("" : : "r"(out.data()) : "memory");
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    passes.push_back(took.count() / static_cast<double>(order.size()));
  }
  std::sort(passes.begin(), passes.end());
  return passes[4];
}

template <typename Decode>
void check(const Lists& lists, const Decode& decode, const char* name) {
  std::vector<NodeId> out(4096);
  for (std::uint32_t i = 0; i < lists.count(); ++i) {
    decode(i, out.data());
    const auto expected = lists.of(i);
    if (!std::equal(expected.begin(), expected.end(), out.begin())) {
      throw Error("{} does not give back list {}", name, i);
    }
  }
}

/// Returns a few lists over and over: a search has just fetched the record that it decodes.
std::vector<std::uint32_t> some_lists(const Lists& lists) {
  std::vector<std::uint32_t> order(200'000);
  Random random(3);
  const std::size_t some = std::min<std::size_t>(lists.count(), 1000);
  for (std::uint32_t& i : order) {
    i = static_cast<std::uint32_t>(random.below(some) * (lists.count() / some));
  }
  return order;
}

/// Returns how many bits tell each list from all sets of as many vertices.
double bits_of_sets(const Lists& lists) {
  double bound = 0;
  const auto universe = static_cast<double>(lists.count());
  for (std::size_t i = 0; i < lists.count(); ++i) {
    const auto degree = static_cast<double>(lists.of(i).size());
    bound +=
        std::lgamma(universe + 1) - std::lgamma(degree + 1) - std::lgamma(universe - degree + 1);
  }
  return bound / std::log(2);
}

void run(const Lists& lists) {
  const EliasFano ef{static_cast<std::uint32_t>(lists.count())};
  const Encoded svb = encode_all(
      lists, [](auto ids) { return layout::list_bytes(ids); },
      [](auto ids, std::byte* out) { layout::encode_list(ids, out); });
  const Encoded fano = encode_all(
      lists, [&](auto ids) { return ef.bytes(ids); },
      [&](auto ids, std::byte* out) { ef.encode(ids, out); });
  const auto list_of = [&](std::uint32_t i) {
    const auto bytes = static_cast<std::uint32_t>(svb.begins[i + 1] - svb.begins[i]);
    return layout::EncodedList{svb.bytes.data() + svb.begins[i], bytes, bytes + 64,
                               static_cast<std::uint32_t>(lists.of(i).size())};
  };
  const auto decode_svb = [&](std::uint32_t i, NodeId* out) {
    if (!layout::decode_list(list_of(i), out)) throw Error("list {} is damaged", i);
  };
  const auto decode_portable = [&](std::uint32_t i, NodeId* out) {
    if (!layout::decode_list_portable(list_of(i), out)) throw Error("list {} is damaged", i);
  };
  const auto decode_ef = [&](std::uint32_t i, NodeId* out) {
    ef.decode(fano.bytes.data() + fano.begins[i], static_cast<std::uint32_t>(lists.of(i).size()),
              out);
  };
  const Encoded packed = encode_all(lists, PackedBits::bytes, PackedBits::encode);
  const auto decode_packed = [&](std::uint32_t i, NodeId* out) {
    PackedBits::decode(packed.bytes.data() + packed.begins[i],
                       static_cast<std::uint32_t>(lists.of(i).size()), out);
  };
  check(lists, decode_packed, "packed bits");
  check(lists, decode_svb, "StreamVByte");
  check(lists, decode_ef, "Elias-Fano");
  const std::vector<std::uint32_t> order = some_lists(lists);
  const auto per_list = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(lists.count());
  };
  fmt::print("{} lists, {:.2f} ids each, plain {:.1f} bytes\n", lists.count(),
             per_list(lists.ids.size()), 4 * per_list(lists.ids.size()));
  const auto print = [&](const char* name, std::uint64_t bytes, double ns) {
    fmt::print("  {:<24} {:>8.2f} bytes {:>8.2f} bits an edge {:>8.1f} ns\n", name, per_list(bytes),
               8 * static_cast<double>(bytes) / static_cast<double>(lists.ids.size()), ns);
  };
  print("StreamVByte", svb.begins.back(), measure(order, decode_svb));
  print("  without vectors", svb.begins.back(), measure(order, decode_portable));
  print("Elias-Fano", fano.begins.back(), measure(order, decode_ef));
  print("packed bits", packed.begins.back(), measure(order, decode_packed));
  fmt::print("  {:<24} {:>14} {:>8.2f} bits an edge\n", "sets without any order", "",
             bits_of_sets(lists) / static_cast<double>(lists.ids.size()));
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  std::string index;
  std::string order = "rows";
  farvec::CommandLine app("Codecs of neighbour lists beside each other");
  app.add_option("--index", index, "Graph index: csr, padded, inline or slotted").required();
  app.add_option("--order", order, "Not slotted: rows, bisection (of the graph), vectors (halved)")
      .show_default();
  return farvec::run_bench(app, argc, argv, [&] {
    const auto directory = farvec::layout::IndexDirectory::open(index);
    const bool slotted = directory.manifest().is_slotted();
    farvec::run(slotted ? farvec::read_pages(directory) : farvec::read_ordered(directory, order));
  });
}
