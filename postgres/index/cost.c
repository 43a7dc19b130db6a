// What a scan costs, for the planner.
#include <postgres.h>

#include <access/genam.h>
#include <access/parallel.h>
#include <math.h>
#include <nodes/pathnodes.h>
#include <optimizer/cost.h>
#include <optimizer/optimizer.h>
#include <utils/float.h>
#include <utils/rel.h>
#include <utils/selfuncs.h>

#include "postgres/index/index.h"
#include "postgres/shared.h"

// In the unit of costs, which is one page that is read in order.
#define ASKING 10.0            // asks a store and waits for its answer
#define ROW_OF_CONDITION 0.05  // cpu_operator_cost, for each row that a condition may be about
#define CANDIDATE_STEPS 8.0    // cpu_operator_cost, for a candidate and a doubling of the rows

// Too dear for any plan that has another way.
static void forbid(struct IndexPath* path, Cost* startup, Cost* total) {
  *startup = get_float8_infinity();
  *total = get_float8_infinity();
#if PG_VERSION_NUM >= 180000
  path->path.disabled_nodes = 2;
#else
  (void)path;
#endif
}

// A function in a parallel worker may plan a query of its own. The worker has no rows that its
// leader keeps, and its locks do not exclude other workers of that leader.
static bool can_be_asked(Oid relation) {
  if (!has_shared_state() || IsParallelWorker()) return false;
  Relation index = index_open(relation, NoLock);
  const char* node = node_of(index);
  const StatusMeta meta = status_meta(index);
  const StoreIdentity identity = identity_of(index, &meta);
  const bool is_there = store_kind(node)->is_there(&identity, node);
  index_close(index, NoLock);
  return is_there;
}

// How many rows a store compares with the query for the first list. Where few rows meet the
// conditions it compares these, and else it walks past those that do not.
static double first_rows(const struct IndexPath* path, double matches, double rows) {
  const double list = Min(farvec_search_list, rows);
  if (path->indexclauses == NIL) return list;
  return Min(matches, list * rows / Max(matches, 1));
}

// A search costs its candidates. Each row that is wanted beyond the first list costs as a share of
// another search.
void farvec_cost(struct PlannerInfo* root, struct IndexPath* path, double loops, Cost* startup,
                 Cost* total, Selectivity* selectivity, double* correlation, double* pages) {
  GenericCosts costs = {0};
  // Scans catch up and take locks, which workers cannot.
  path->path.parallel_safe = false;
  if (path->indexorderbys != NIL) add_clauses(root, path);
  genericcostestimate(root, path, loops, &costs);
  *selectivity = costs.indexSelectivity;
  *correlation = 0;
  *pages = costs.numIndexPages;
  if (path->indexorderbys == NIL || !can_be_asked(path->indexinfo->indexoid)) {
    forbid(path, startup, total);
    return;
  }
  const double rows = Max(path->indexinfo->tuples, 1);
  const double matches =
      Min(clamp_row_est(costs.indexSelectivity * path->indexinfo->rel->tuples), rows);
  const double looked_at =
      path->indexclauses == NIL ? 0 : ROW_OF_CONDITION * cpu_operator_cost * rows;
  const double candidate = CANDIDATE_STEPS * cpu_operator_cost * (1 + log2(rows));
  *startup = ASKING + looked_at + first_rows(path, matches, rows) * candidate;
  *total = *startup + matches * (candidate + 2 * cpu_index_tuple_cost);
}
