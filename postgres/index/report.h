// This header has what functions of SQL about an index share.
#ifndef FARVEC_POSTGRES_INDEX_REPORT_H
#define FARVEC_POSTGRES_INDEX_REPORT_H

#include <postgres.h>

#include <lib/stringinfo.h>
#include <utils/relcache.h>

// Opens an index with AccessShareLock. Ends with an error where it is none of farvec's, or the user
// does not own it.
Relation open_farvec_index(Oid oid);

// A text of JSON, as jsonb.
Datum json_datum(const StringInfoData* text);

#endif
