// Plans: a scan computes no distance that is not read.
//
// PostgreSQL has a scan compute what the statement is ordered by, in a column of its own ("junk"),
// although the index gives rows in this order. To compute a distance the row's vector is read,
// which mostly lies in TOAST. So that column becomes null where nothing above the scan looks at it.
#include <postgres.h>

#include <access/genam.h>
#include <miscadmin.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <nodes/plannodes.h>
#include <optimizer/planner.h>
#include <utils/rel.h>

#include "postgres/index/index.h"
#include "postgres/index/placing.h"

static planner_hook_type other_hook = NULL;

static bool is_ours(Oid relation) {
  Relation index = index_open(relation, NoLock);
  const bool is = index->rd_indam->ambuild == farvec_build;
  index_close(index, NoLock);
  return is;
}

static void forget_order(IndexScan* scan) {
  ListCell* cell;
  if (scan->indexorderbyorig == NIL || !is_ours(scan->indexid)) return;
  foreach (cell, scan->scan.plan.targetlist) {
    TargetEntry* column = lfirst(cell);
    if (!column->resjunk || !equal(column->expr, linitial(scan->indexorderbyorig))) continue;
    column->expr = (Expr*)makeNullConst(exprType((Node*)column->expr), -1, InvalidOid);
  }
}

// The scan at the top of a query, below limits. Junk is not seen outside of its query, and a limit
// is above all else in its query. One with ties compares the junk.
static void forget_order_below(Plan* plan) {
  while (plan != NULL && IsA(plan, Limit) && ((Limit*)plan)->limitOption == LIMIT_OPTION_COUNT) {
    plan = outerPlan(plan);
  }
  if (plan != NULL && IsA(plan, IndexScan)) forget_order((IndexScan*)plan);
}

static void visit_queries_below(Plan* plan);

static void visit_all(List* plans) {
  ListCell* cell;
  foreach (cell, plans) visit_queries_below(lfirst(cell));
}

// Finds the queries within a plan. The planner leaves out scans of subqueries that do nothing, so
// that a limit stands right below a node of the outer query.
static void visit_queries_below(Plan* plan) {
  if (plan == NULL) return;
  check_stack_depth();
  if (IsA(plan, IndexScan)) tell_model(((IndexScan*)plan)->indexid);
  if (IsA(plan, SubqueryScan)) {
    Plan* query = ((SubqueryScan*)plan)->subplan;
    forget_order_below(query);
    visit_queries_below(query);
  } else if (IsA(plan, Limit)) {
    forget_order_below(plan);
  } else if (IsA(plan, Append)) {
    visit_all(((Append*)plan)->appendplans);
  } else if (IsA(plan, MergeAppend)) {
    visit_all(((MergeAppend*)plan)->mergeplans);
  }
  visit_queries_below(outerPlan(plan));
  visit_queries_below(innerPlan(plan));
}

static PlannedStmt* plan_query(Query* query, const char* text, int options,
                               ParamListInfo parameters) {
  PlannedStmt* made = other_hook != NULL ? other_hook(query, text, options, parameters)
                                         : standard_planner(query, text, options, parameters);
  ListCell* cell;
  forget_order_below(made->planTree);
  visit_queries_below(made->planTree);
  foreach (cell, made->subplans) {
    forget_order_below(lfirst(cell));
    visit_queries_below(lfirst(cell));
  }
  return made;
}

void watch_plans(void) {
  other_hook = planner_hook;
  planner_hook = plan_query;
}
