// This header keeps rows that statements insert until there are many of them, or the transaction
// ends.
//
// A row that waits has no VID and no entry yet. No other transaction can see it, and the own one
// sends it before it scans.
#ifndef FARVEC_POSTGRES_INDEX_PENDING_H
#define FARVEC_POSTGRES_INDEX_PENDING_H

#include <postgres.h>

#include "postgres/index/index.h"

// Keeps a row of this transaction. May send it and those before it. `is_again`: a former version of
// the row probably has the same values.
void keep_row(Relation index, const Datum* values, const bool* nulls, ItemPointer tid,
              bool is_again);

// Sends the rows of an index that wait.
void send_kept_rows(Relation index);

// Forgets the rows of an index that is built. TRUNCATE keeps the file of an index to which this
// transaction gave it, so the rows that wait would come to rows of other places.
void forget_kept_rows(Relation index);

#endif
