// pooled_search() runs a call's queries on cores of a pool.
#pragma once

#include <cstdint>

#include "python/core_pool.h"
#include "python/searcher.h"
#include "search/core/search_parameters.h"

namespace farvec::python {

struct PooledCall {
  search::SearchParameters parameters;
  const Call& call;
  bool user_ids = false;                             ///< the cores are a collection's
  const attributes::Condition* condition = nullptr;  ///< what results meet
  layout::Schema schema = {};                        ///< the one whose columns are selected
};

/// Searches with up to `threads` cores, the first on the calling thread. The queries are in stored
/// form. Throws StatusError, and WorkInterrupted.
Answer pooled_search(CorePool& pool, std::uint32_t threads, const VectorView& queries,
                     const PooledCall& call);

}  // namespace farvec::python
