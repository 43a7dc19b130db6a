// The extension's module. What it does is in docs/use/postgres.md.
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;
