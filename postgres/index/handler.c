// The handler of the access method.
#include <postgres.h>

#include <access/amapi.h>
#include <commands/progress.h>
#include <commands/vacuum.h>
#include <fmgr.h>

#include "postgres/index/index.h"

PG_FUNCTION_INFO_V1(farvec_handler);

static char* phase_name(int64 phase) {
  switch (phase) {
    case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
      return "telling the store";
    case FARVEC_PHASE_STORE:
      return "linking in the store";
    default:
      return NULL;
  }
}

static void set_functions(IndexAmRoutine* method) {
  method->ambuild = farvec_build;
  method->ambuildempty = farvec_build_empty;
  method->aminsert = farvec_insert_row;
  method->ambulkdelete = farvec_bulk_delete;
  method->amvacuumcleanup = farvec_vacuum_cleanup;
  method->amcostestimate = farvec_cost;
  method->amoptions = index_options;
  method->ambuildphasename = phase_name;
  method->amvalidate = farvec_validate;
  method->ambeginscan = farvec_begin_scan;
  method->amrescan = farvec_rescan;
  method->amgettuple = farvec_next;
  method->amendscan = farvec_end_scan;
}

// All that is not set here it cannot do.
Datum farvec_handler(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  IndexAmRoutine* method = makeNode(IndexAmRoutine);
  method->amsupport = 1;
  method->amstrategies = 0;
  method->amcanorderbyop = true;
  method->amcanmulticol = true;  // the others are filters
  method->amoptionalkey = true;  // else the planner makes no path that only orders
  method->amsearcharray = true;
  method->amsearchnulls = true;
  method->amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL;
  method->amkeytype = InvalidOid;
  set_functions(method);
  PG_RETURN_POINTER(method);
}
