// The extension's module. What it does is in docs/use/postgres.md.
#include <postgres.h>

#include <fmgr.h>
#include <utils/guc.h>

#include "postgres/connections.h"

PG_MODULE_MAGIC;

void _PG_init(void);

void _PG_init(void) {
  define_connection_settings();
  MarkGUCPrefixReserved("farvec");
}
