// Bytes and nanoseconds per neighbour list of StreamVByte (layout's codec) and plain Elias-Fano,
// on the lists of a slotted index, decoded from the cache.
//   build/release/bin/neighbor_codecs --index DIR
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "layout/pages/neighbor_list.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"
#include "layout/region/index_directory.h"

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

Lists read_lists(const std::string& path) {
  const auto index = layout::IndexDirectory::open(path);
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

void run(const std::string& path) {
  const Lists lists = read_lists(path);
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
  check(lists, decode_svb, "StreamVByte");
  check(lists, decode_ef, "Elias-Fano");
  // A few lists over and over: a search has just fetched the record that it decodes.
  std::vector<std::uint32_t> order(200'000);
  Random random(3);
  const std::size_t some = std::min<std::size_t>(lists.count(), 1000);
  for (std::uint32_t& i : order) {
    i = static_cast<std::uint32_t>(random.below(some) * (lists.count() / some));
  }
  const auto per_list = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(lists.count());
  };
  fmt::print("{} lists, {:.2f} ids each, plain {:.1f} bytes\n", lists.count(),
             per_list(lists.ids.size()), 4 * per_list(lists.ids.size()));
  fmt::print("{:<24} {:>8.2f} bytes {:>8.1f} ns\n", "StreamVByte", per_list(svb.begins.back()),
             measure(order, decode_svb));
  fmt::print("{:<24} {:>8} bytes {:>8.1f} ns\n", "  without vectors", "",
             measure(order, decode_portable));
  fmt::print("{:<24} {:>8.2f} bytes {:>8.1f} ns\n", "Elias-Fano", per_list(fano.begins.back()),
             measure(order, decode_ef));
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  std::string index;
  farvec::CommandLine app("Codecs of neighbour lists beside each other");
  app.add_option("--index", index, "Slotted index").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    farvec::run(index);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
