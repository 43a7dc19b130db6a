// The extension's module. What it does is in docs/use/postgres.md.
#include <postgres.h>

#include <catalog/dependency.h>
#include <catalog/pg_extension.h>
#include <commands/extension.h>
#include <fmgr.h>
#include <utils/guc.h>

#include "postgres/connections.h"
#include "postgres/index/index.h"
#include "postgres/shared.h"
#include "postgres/worker/restored.h"
#include "postgres/worker/settings.h"
#include "postgres/worker/tablespaces.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(farvec_needs);

// Records that this extension needs another one, which its script alone can know. A dump then
// creates the other one first. It works in the script of CREATE EXTENSION and nowhere else.
Datum farvec_needs(PG_FUNCTION_ARGS) {
  if (!creating_extension) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("farvec_needs() is for the script of the extension")));
  }
  const ObjectAddress self = {ExtensionRelationId, CurrentExtensionObject, 0};
  const ObjectAddress other = {ExtensionRelationId,
                               get_extension_oid(NameStr(*PG_GETARG_NAME(0)), false), 0};
  recordDependencyOn(&self, &other, DEPENDENCY_NORMAL);
  PG_RETURN_VOID();
}

void _PG_init(void);

void _PG_init(void) {
  define_connection_settings();
  define_index_settings();
  define_index_options();
  watch_plans();
  watch_explain();
  watch_tablespaces();
  define_engine_settings();
  forget_marks_where_restored();
  request_shared_state();
  register_engine_worker();
  MarkGUCPrefixReserved("farvec");
}
