// make_backend() makes the backend of a source. A new alternative of Source needs its overload in
// make_backend.cc, which does not compile without.
#pragma once

#include <memory>

#include "compute_node/backends/backend_options.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/source.h"

namespace farvec::compute_node {

/// Opens nothing yet. Throws Error on an address or a tier that the source cannot have.
std::unique_ptr<SearchBackend> make_backend(const Source& source, const BackendOptions& options);

}  // namespace farvec::compute_node
