#include "compute_node/backends/make_backend.h"

#include "compute_node/backends/collection_backend.h"
#include "compute_node/backends/directory_backend.h"
#include "compute_node/backends/following_backend.h"
#include "compute_node/backends/memory_node_backend.h"
#include "compute_node/backends/paged_backend.h"

namespace farvec::compute_node {
namespace {

std::unique_ptr<SearchBackend> backend_of(const MemoryNodeSource& source,
                                          const BackendOptions& options) {
  return std::make_unique<MemoryNodeBackend>(source, options);
}

std::unique_ptr<SearchBackend> backend_of(const DirectorySource& source,
                                          const BackendOptions& options) {
  return std::make_unique<DirectoryBackend>(source, options.largest);
}

std::unique_ptr<SearchBackend> backend_of(const ChangedSource& source,
                                          const BackendOptions& options) {
  return std::make_unique<CollectionBackend>(source, options);
}

std::unique_ptr<SearchBackend> backend_of(const FollowedSource& source,
                                          const BackendOptions& options) {
  return std::make_unique<FollowingBackend>(source.collection, options);
}

std::unique_ptr<SearchBackend> backend_of(const PagedSource& source,
                                          const BackendOptions& options) {
  return std::make_unique<PagedBackend>(source, options.largest);
}

}  // namespace

std::unique_ptr<SearchBackend> make_backend(const Source& source, const BackendOptions& options) {
  return std::visit([&options](const auto& one) { return backend_of(one, options); }, source);
}

}  // namespace farvec::compute_node
