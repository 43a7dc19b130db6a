// Clauses of a WHERE that the planner before PostgreSQL 17 gives no index that orders: IN lists,
// and booleans alone. A path gets them when its costs are asked for.
#include <postgres.h>

#include <catalog/pg_operator.h>
#include <catalog/pg_type.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <nodes/pathnodes.h>
#include <optimizer/clauses.h>
#include <optimizer/optimizer.h>
#include <optimizer/paths.h>
#include <optimizer/restrictinfo.h>
#include <utils/lsyscache.h>

#include "postgres/index/index.h"

// The arguments of COLUMN OPERATOR VALUE, or of COLUMN OPERATOR ANY (array); else NIL.
static List* arguments_of(Node* clause, Oid* compares) {
  if (IsA(clause, ScalarArrayOpExpr)) {
    const ScalarArrayOpExpr* any = (const ScalarArrayOpExpr*)clause;
    *compares = any->opno;
    return any->useOr ? any->args : NIL;
  }
  if (!is_opclause(clause)) return NIL;
  *compares = ((const OpExpr*)clause)->opno;
  return list_length(((const OpExpr*)clause)->args) == 2 ? ((const OpExpr*)clause)->args : NIL;
}

// Answers whether a column is compared with what is the same for all rows. The collation may be
// another one than the column's: stores have texts as they are.
static bool is_comparison(PlannerInfo* root, Node* clause, IndexOptInfo* index, int column) {
  Oid compares = InvalidOid;
  List* arguments = arguments_of(clause, &compares);
  return arguments != NIL && match_index_to_operand(linitial(arguments), column, index) &&
         op_in_opfamily(compares, index->opfamily[column]) &&
         !bms_is_member((int)index->rel->relid, pull_varnos(root, lsecond(arguments))) &&
         !contain_volatile_functions(lsecond(arguments));
}

// What a clause wants a boolean column to be; -1: it is no such clause.
static int wanted_boolean(Node* clause, IndexOptInfo* index, int column) {
  int wanted = 1;
  if (index->opcintype[column] != BOOLOID) return -1;
  if (is_notclause(clause)) {
    clause = (Node*)get_notclausearg(clause);
    wanted = 0;
  } else if (IsA(clause, BooleanTest)) {
    const BooleanTest* test = (const BooleanTest*)clause;
    if (test->booltesttype != IS_TRUE && test->booltesttype != IS_FALSE) return -1;
    wanted = test->booltesttype == IS_TRUE;
    clause = (Node*)test->arg;
  }
  return match_index_to_operand(clause, column, index) ? wanted : -1;
}

static RestrictInfo* boolean_clause(PlannerInfo* root, Node* clause, bool wanted) {
  Node* left = clause;
  if (is_notclause(left)) left = (Node*)get_notclausearg(left);
  if (IsA(left, BooleanTest)) left = (Node*)((BooleanTest*)left)->arg;
  return make_simple_restrictinfo(
      root, make_opclause(BooleanEqualOperator, BOOLOID, false, (Expr*)left,
                          (Expr*)makeBoolConst(wanted, false), InvalidOid, InvalidOid));
}

// The clause as a condition on a column; NULL where it is none.
static IndexClause* condition_on(PlannerInfo* root, RestrictInfo* clause, IndexOptInfo* index,
                                 int column) {
  List* quals = NIL;
  Node* expression = (Node*)clause->clause;
  const int wanted = wanted_boolean(expression, index, column);
  if (wanted >= 0) {
    quals = list_make1(boolean_clause(root, expression, wanted == 1));
  } else if (is_comparison(root, expression, index, column)) {
    quals = list_make1(clause);
  } else {
    return NULL;
  }
  IndexClause* made = makeNode(IndexClause);
  made->rinfo = clause;
  made->indexquals = quals;
  made->indexcol = (AttrNumber)column;
  return made;
}

static bool is_free(RestrictInfo* clause, const IndexPath* path) {
  return !clause->pseudoconstant && !is_redundant_with_indexclauses(clause, path->indexclauses) &&
         restriction_is_securely_promotable(clause, path->indexinfo->rel);
}

// Clauses are in the order of their columns.
static int compare_columns(const ListCell* left, const ListCell* right) {
  return ((const IndexClause*)lfirst(left))->indexcol -
         ((const IndexClause*)lfirst(right))->indexcol;
}

void add_clauses(PlannerInfo* root, IndexPath* path) {
  IndexOptInfo* index = path->indexinfo;
  List* found = NIL;
  ListCell* cell;
  foreach (cell, index->indrestrictinfo) {
    RestrictInfo* clause = lfirst(cell);
    if (!is_free(clause, path)) continue;
    for (int column = 1; column < index->nkeycolumns; column++) {
      IndexClause* made = condition_on(root, clause, index, column);
      if (made == NULL) continue;
      found = lappend(found, made);
      break;
    }
  }
  if (found == NIL) return;
  // Other paths have the list too.
  path->indexclauses = list_concat_copy(path->indexclauses, found);
  list_sort(path->indexclauses, compare_columns);
}
