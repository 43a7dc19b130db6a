// This header reads the vectors of an index's rows from its table.
#ifndef FARVEC_POSTGRES_INDEX_ROWS_H
#define FARVEC_POSTGRES_INDEX_ROWS_H

#include <postgres.h>

#include <utils/snapshot.h>

#include "postgres/index/index.h"

typedef struct RowReader RowReader;

// Reads the rows that `snapshot` sees; with NULL, all that any snapshot may see. Expressions of the
// index are evaluated as the owner of the table, until close_rows().
RowReader* open_rows(OpenIndex* index, Relation heap, Snapshot snapshot);
void close_rows(RowReader* reader);

// Writes the vector of an entry's row, as a store takes it, and its length. Answers false where
// there is no such row, or its vector is null.
bool read_vector(RowReader* reader, const StatusEntry* entry, void* to, double* length);

// The values of the other columns in the row of the last read_vector() that answered true.
const TupleList* row_tuple(const RowReader* reader);

// Writes the distance that the operator of a scan computes for an entry's row. Answers false where
// there is no such row, or its vector is null.
bool read_distance(RowReader* reader, const StatusEntry* entry, ScanKey key, double* distance);

// Where the row of the last read_...() lies: an entry names the first of several versions.
const ItemPointerData* row_tid(const RowReader* reader);
// Answers whether there was a row.
bool row_was_there(const RowReader* reader);

// Answers whether a partial index has the row in a slot.
bool is_indexed(RowReader* reader, TupleTableSlot* slot);

#endif
