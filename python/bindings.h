// What the module has, a file each.
#pragma once

#include <nanobind/nanobind.h>

#include "python/changing.h"
#include "python/handle.h"
#include "python/searcher.h"

namespace farvec::python {

/// Result, Counts and Index.
void bind_index(nanobind::module_& module);
/// Receipt and Collection.
void bind_collection(nanobind::module_& module);
/// Collection.create().
void bind_collection_create(nanobind::class_<Handle<Changing>>& type);
/// PagedHnsw and build_hnsw().
void bind_hnsw(nanobind::module_& module);
/// build_graph() and its like.
void bind_builds(nanobind::module_& module);
/// Vector files, ground truth and recall.
void bind_dataset(nanobind::module_& module);
/// sweep().
void bind_sweep(nanobind::module_& module);
/// advise().
void bind_advise(nanobind::module_& module);

}  // namespace farvec::python
