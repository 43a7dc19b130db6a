// EXPLAIN (ANALYZE) says what scans did, from PostgreSQL 18 on. Before, it lets no index speak.
#include <postgres.h>

#include "postgres/index/index.h"

#if PG_VERSION_NUM >= 180000

#include <commands/explain.h>
#include <commands/explain_format.h>
#include <commands/explain_state.h>
#include <nodes/execnodes.h>
#include <utils/rel.h>

#include "postgres/index/scan.h"

static explain_per_node_hook_type other_hook = NULL;

static void say_in_text(const ScanNumber* numbers, ExplainState* to) {
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < FARVEC_SCAN_NUMBERS; i++) {
    if (!numbers[i].is_known || numbers[i].value == 0) continue;
    appendStringInfo(&text, "%s%s=" UINT64_FORMAT, text.len == 0 ? "" : " ", numbers[i].name,
                     numbers[i].value);
  }
  ExplainPropertyText("Farvec", text.data, to);
}

static void say_in_group(const ScanNumber* numbers, ExplainState* to) {
  ExplainOpenGroup("Farvec", "Farvec", true, to);
  for (int i = 0; i < FARVEC_SCAN_NUMBERS; i++) {
    if (numbers[i].is_known) ExplainPropertyUInteger(numbers[i].name, NULL, numbers[i].value, to);
  }
  ExplainCloseGroup("Farvec", "Farvec", true, to);
}

static void explain_scan(PlanState* state, ExplainState* to) {
  ScanNumber numbers[FARVEC_SCAN_NUMBERS];
  if (!to->analyze || !IsA(state, IndexScanState)) return;
  const IndexScanState* scan = (const IndexScanState*)state;
  if (scan->iss_ScanDesc == NULL || scan->iss_RelationDesc == NULL ||
      scan->iss_RelationDesc->rd_indam->ambuild != farvec_build) {
    return;
  }
  const ScanReport report = report_of_scan(scan->iss_ScanDesc);
  if (!OidIsValid(report.index)) return;  // it never ran
  scan_numbers(&report, numbers);
  if (to->format == EXPLAIN_FORMAT_TEXT) {
    say_in_text(numbers, to);
  } else {
    say_in_group(numbers, to);
  }
}

static void explain_node(PlanState* state, List* ancestors, const char* relationship,
                         const char* plan_name, ExplainState* to) {
  if (other_hook != NULL) other_hook(state, ancestors, relationship, plan_name, to);
  explain_scan(state, to);
}

void watch_explain(void) {
  other_hook = explain_per_node_hook;
  explain_per_node_hook = explain_node;
}

#else

void watch_explain(void) {}

#endif
