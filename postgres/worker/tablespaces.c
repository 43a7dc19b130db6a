#include <postgres.h>

#include "postgres/worker/tablespaces.h"

#include <catalog/objectaccess.h>
#include <catalog/pg_tablespace.h>
#include <miscadmin.h>

#include "postgres/worker/folders.h"

static object_access_hook_type next_hook = NULL;

// The statement's rights were checked before.
static void look_at_access(ObjectAccessType access, Oid class, Oid object, int part, void* more) {
  if (next_hook != NULL) next_hook(access, class, object, part, more);
  if (access == OAT_DROP && class == TableSpaceRelationId) leave_tablespace(object);
}

void watch_tablespaces(void) {
  if (!process_shared_preload_libraries_in_progress) return;
  next_hook = object_access_hook;
  object_access_hook = look_at_access;
}
