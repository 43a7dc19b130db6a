// Each of these functions binds a part of the module, and has a file of its own.
#pragma once

#include <nanobind/nanobind.h>

#include "python/changing.h"
#include "python/handle.h"
#include "python/searcher.h"

namespace farvec::python {

/// Binds Result, Counts and Index.
void bind_index(nanobind::module_& module);
/// Binds Receipt and Collection.
void bind_collection(nanobind::module_& module);
/// Binds Collection.create().
void bind_collection_create(nanobind::class_<Handle<Changing>>& type);
/// Binds what changes a Collection.
void bind_collection_changes(nanobind::class_<Handle<Changing>>& type);
/// Binds what reads the rows of a Collection, by their ids or by a condition.
void bind_collection_rows(nanobind::class_<Handle<Changing>>& type);
/// Binds PagedHnsw and build_hnsw().
void bind_hnsw(nanobind::module_& module);
/// Binds build_graph() and the other builds of indexes.
void bind_builds(nanobind::module_& module);
/// Binds the functions for vector files, ground truth and recall.
void bind_dataset(nanobind::module_& module);
/// Binds sweep().
void bind_sweep(nanobind::module_& module);
/// Binds advise().
void bind_advise(nanobind::module_& module);

}  // namespace farvec::python
