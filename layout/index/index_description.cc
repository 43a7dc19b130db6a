#include "layout/index/index_description.h"

#include <type_traits>

namespace farvec::layout {
namespace {

template <typename... Description>
constexpr KindWords find_words(IndexKind kind, std::type_identity<std::variant<Description...>>) {
  KindWords words{"unknown", "of a kind that is not known"};
  ((Description::kKind == kind ? void(words = Description::kWords) : void()), ...);
  return words;
}

constexpr KindWords words_of(IndexKind kind) {
  return find_words(kind, std::type_identity<IndexDescription>());
}

}  // namespace

std::string_view to_string(IndexKind kind) {
  return words_of(kind).name;
}

std::string_view in_words(IndexKind kind) {
  return words_of(kind).in_sentence;
}

IndexKind kind_of(const IndexDescription& description) {
  return std::visit([]<typename Description>(const Description&) { return Description::kKind; },
                    description);
}

RegionKind records_kind(LayoutKind layout) {
  switch (layout) {
    case LayoutKind::csr:
      return RegionKind::records_csr;
    case LayoutKind::padded:
      return RegionKind::records_padded;
    case LayoutKind::slotted:
      return RegionKind::records_slotted;
    case LayoutKind::inlined:
      return RegionKind::records_inline;
    case LayoutKind::packed:
      break;
  }
  return RegionKind::records_packed;
}

RegionKind records_kind(ClusterLayoutKind layout) {
  switch (layout) {
    case ClusterLayoutKind::coupled:
      return RegionKind::records_coupled;
    case ClusterLayoutKind::decoupled:
      return RegionKind::records_decoupled;
    case ClusterLayoutKind::grouped:
      return RegionKind::records_grouped;
    case ClusterLayoutKind::grouped_inline:
      return RegionKind::records_grouped_inline;
    case ClusterLayoutKind::coded:
      break;
  }
  return RegionKind::records_coded;
}

}  // namespace farvec::layout
