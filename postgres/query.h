// This header turns queries of SQL into the form in which a compute node takes them.
#ifndef FARVEC_POSTGRES_QUERY_H
#define FARVEC_POSTGRES_QUERY_H

#include "client/c/farvec.h"
#include "postgres/vector.h"

// What the second argument of farvec_search() is.
typedef enum QueryForm { kQueryVector, kQueryHalfvec, kQueryBits, kQueryText } QueryForm;

// One query in the current context, of the type of `served`; its dimension is its own. Ends with an
// error where the query cannot be of that type, as bits for a node of floats.
farvec_vectors query_for(Datum query, QueryForm form, const farvec_description* served);

#endif
