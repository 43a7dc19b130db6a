// farvec_search() and farvec_node(): what SQL asks compute nodes.
#include <postgres.h>

#include <catalog/pg_type.h>
#include <fmgr.h>
#include <funcapi.h>
#include <math.h>
#include <miscadmin.h>
#include <nodes/execnodes.h>
#include <nodes/nodeFuncs.h>
#include <nodes/supportnodes.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/fmgrprotos.h>
#include <utils/memutils.h>
#include <utils/timestamp.h>
#include <utils/tuplestore.h>

#include "postgres/connections.h"
#include "postgres/encoding.h"
#include "postgres/query.h"

PG_FUNCTION_INFO_V1(farvec_search_vector);
PG_FUNCTION_INFO_V1(farvec_search_halfvec);
PG_FUNCTION_INFO_V1(farvec_search_bits);
PG_FUNCTION_INFO_V1(farvec_search_text);
PG_FUNCTION_INFO_V1(farvec_search_support);
PG_FUNCTION_INFO_V1(farvec_node);

// The arguments of farvec_search() in their order, and the columns that it returns.
enum {
  kNode,
  kQuery,
  kK,
  kFilter,
  kList,
  kRefine,
  kProbe,
  kWithin,
  kExact,
  kPartial,
  kColumns,
  kDeadline
};
enum { kId, kDistance, kAttributes, kResultColumns };

#define DEFAULT_DEADLINE_MS 10000

#define USUAL_WITHIN 1000  // k, where `within` is given

// A search until its results are freed, which is when the statement's memory goes, after errors
// too.
typedef struct Search {
  Connection* connection;
  Patience patience;
  farvec_search_options options;
  farvec_results* results;
} Search;

static uint32_t positive(FunctionCallInfo fcinfo, int argument, const char* name,
                         uint32_t otherwise) {
  if (PG_ARGISNULL(argument)) return otherwise;
  const int32 value = PG_GETARG_INT32(argument);
  if (value < 1) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s is %d, and has to be at least 1", name, value)));
  }
  return (uint32_t)value;
}

static uint32_t milliseconds(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) return DEFAULT_DEADLINE_MS;
  const Interval* interval = PG_GETARG_INTERVAL_P(argument);
  const double days = (double)interval->month * DAYS_PER_MONTH + interval->day;
  const double ms = ceil(((double)interval->time + days * (double)USECS_PER_DAY) / 1000);
  if (ms < 1 || ms > INT32_MAX) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("deadline has to be from 1 ms to 24 days"),
                    errhint("Write it as an interval, like deadline => '500 ms'.")));
  }
  return (uint32_t)ms;
}

static const char* const* column_names(ArrayType* array, size_t* count) {
  Datum* datums;
  bool* nulls;
  int length;
  deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &datums, &nulls, &length);
  const char** names = palloc0(sizeof(char*) * (Size)(length + 1));
  for (int i = 0; i < length; i++) {
    if (nulls[i]) {
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                      errmsg("columns has a null, and every column has a name")));
    }
    names[i] = utf8_of(TextDatumGetCString(datums[i]));
  }
  *count = (size_t)length;
  return names;
}

// The distance of the operators of SQL is the root of what nodes compute for l2.
static float of_operator(float distance, const Connection* connection) {
  if (connection->served.metric != FARVEC_L2) return distance;
  if (!(distance >= 0)) {
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("the compute node %s answers with the squared distance %g",
                           connection->address, (double)distance)));
  }
  return sqrtf(distance);
}

// The greatest square whose root is no farther, which may be greater than the product.
static float greatest_square(float within) {
  float square = within * within;
  while (sqrtf(square) > within) square = nextafterf(square, 0);
  while (!isinf(square) && sqrtf(nextafterf(square, INFINITY)) <= within) {
    square = nextafterf(square, INFINITY);
  }
  return square;
}

static void read_options(FunctionCallInfo fcinfo, Search* search) {
  farvec_search_options* options = &search->options;
  options->size = sizeof *options;
  options->list = positive(fcinfo, kList, "list", 0);
  options->refine = positive(fcinfo, kRefine, "refine", 0);
  options->probe = positive(fcinfo, kProbe, "probe", 0);
  if (!PG_ARGISNULL(kFilter)) {
    options->filter = utf8_of(text_to_cstring(PG_GETARG_TEXT_PP(kFilter)));
  }
  if (!PG_ARGISNULL(kExact) && PG_GETARG_BOOL(kExact)) options->flags |= FARVEC_EXACT;
  if (!PG_ARGISNULL(kPartial) && PG_GETARG_BOOL(kPartial)) options->flags |= FARVEC_PARTIAL;
  if (!PG_ARGISNULL(kColumns)) {
    options->columns = column_names(PG_GETARG_ARRAYTYPE_P(kColumns), &options->column_count);
  }
}

// A row that is shown at exactly this distance is within it.
static void read_within(FunctionCallInfo fcinfo, Search* search) {
  search->options.flags &= ~FARVEC_WITHIN;
  if (PG_ARGISNULL(kWithin)) return;
  const float within = PG_GETARG_FLOAT4(kWithin);
  const bool is_l2 = search->connection->served.metric == FARVEC_L2;
  if (isnan(within) || (is_l2 && within < 0)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("within is %g, which is no distance", (double)within)));
  }
  search->options.flags |= FARVEC_WITHIN;
  search->options.within = is_l2 ? greatest_square(within) : within;
}

// Rows of an index are counted, and a node refuses to look for more of them. A collection has as
// many as it has when the search comes. Nodes take a search within infinity for one without a
// limit.
static void bound_k(FunctionCallInfo fcinfo, Search* search) {
  const farvec_description* served = &search->connection->served;
  const bool is_all = !PG_ARGISNULL(kWithin) && isinf(PG_GETARG_FLOAT4(kWithin)) == 1;
  const uint32_t usual = is_all ? Min(USUAL_WITHIN, Min(served->max_k, served->max_list)) : 0;
  search->options.k = positive(fcinfo, kK, "k", usual);
  if (!served->own_ids && served->count > 0 && search->options.k > served->count) {
    search->options.k = (uint32_t)served->count;
  }
}

static void free_results(void* argument) {
  Search* search = argument;
  library()->results_free(search->results);
  search->results = NULL;
}

static farvec_status try_search(FunctionCallInfo fcinfo, QueryForm form, Search* search,
                                farvec_error* error) {
  const farvec_description* served = &search->connection->served;
  const farvec_vectors query = query_for(PG_GETARG_DATUM(kQuery), form, served);
  bound_k(fcinfo, search);
  read_within(fcinfo, search);
  farvec_status status;
  do {
    const farvec_wait wait = wait_of(&search->patience);
    status = library()->search(search->connection->handle, &query, &search->options, &wait,
                               &search->results, error);
  } while (is_to_repeat(&search->patience, status));
  return status;
}

// A node may have been given another index since it was described. Then the query is read again.
static void find(FunctionCallInfo fcinfo, QueryForm form, Search* search) {
  farvec_error error;
  farvec_status status = try_search(fcinfo, form, search, &error);
  if (status == FARVEC_INVALID_ARGUMENT && refresh(search->connection, &search->patience)) {
    status = try_search(fcinfo, form, search, &error);
  }
  if (status != FARVEC_OK) {
    raise_library_error(&error, search->connection->address, &search->patience);
  }
}

static Datum id_datum(uint64_t id) {
  if (id > (uint64_t)PG_INT64_MAX) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("the id " UINT64_FORMAT " is out of the range of bigint", id)));
  }
  return Int64GetDatum((int64)id);
}

static void put_rows(const Search* search, ReturnSetInfo* answer) {
  const uint64_t* ids = library()->results_ids(search->results, 0);
  const float* distances = library()->results_distances(search->results, 0);
  const size_t count = library()->results_count(search->results, 0);
  for (size_t i = 0; i < count; i++) {
    const char* attributes = library()->results_attributes(search->results, 0, i);
    Datum values[kResultColumns] = {0};
    bool nulls[kResultColumns] = {false};
    values[kId] = id_datum(ids[i]);
    values[kDistance] = Float4GetDatum(of_operator(distances[i], search->connection));
    nulls[kAttributes] = attributes == NULL;
    if (attributes != NULL) {
      values[kAttributes] =
          DirectFunctionCall1(jsonb_in, CStringGetDatum(text_of_utf8(attributes)));
    }
    tuplestore_putvalues(answer->setResult, answer->setDesc, values, nulls);
  }
}

static void tell_coverage(const Search* search) {
  const double coverage = library()->results_coverage(search->results);
  if (coverage >= 1) return;
  ereport(WARNING, (errcode(ERRCODE_WARNING),
                    errmsg("the compute node %s could read %.3g%% of its records",
                           search->connection->address, coverage * 100),
                    errhint("Rows may be missing: a memory node does not answer.")));
}

static Datum search_nodes(FunctionCallInfo fcinfo, QueryForm form) {
  InitMaterializedSRF(fcinfo, 0);
  // Nothing is near nothing, as in functions that are strict.
  if (PG_ARGISNULL(kNode) || PG_ARGISNULL(kQuery)) return (Datum)0;
  Search* search = palloc0(sizeof *search);
  read_options(fcinfo, search);
  search->patience = patience_for(milliseconds(fcinfo, kDeadline));
  search->connection = connection_to(text_to_cstring(PG_GETARG_TEXT_PP(kNode)), &search->patience);
  MemoryContextCallback* freeing = palloc0(sizeof *freeing);
  freeing->func = free_results;
  freeing->arg = search;
  MemoryContextRegisterResetCallback(CurrentMemoryContext, freeing);
  find(fcinfo, form, search);
  tell_coverage(search);
  put_rows(search, (ReturnSetInfo*)fcinfo->resultinfo);
  free_results(search);
  return (Datum)0;
}

Datum farvec_search_vector(PG_FUNCTION_ARGS) {
  return search_nodes(fcinfo, kQueryVector);
}
Datum farvec_search_halfvec(PG_FUNCTION_ARGS) {
  return search_nodes(fcinfo, kQueryHalfvec);
}
Datum farvec_search_bits(PG_FUNCTION_ARGS) {
  return search_nodes(fcinfo, kQueryBits);
}
Datum farvec_search_text(PG_FUNCTION_ARGS) {
  return search_nodes(fcinfo, kQueryText);
}

// Tells the planner how many rows a search returns: k, where it is known.
Datum farvec_search_support(PG_FUNCTION_ARGS) {
  Node* request = (Node*)PG_GETARG_POINTER(0);
  if (!IsA(request, SupportRequestRows)) PG_RETURN_POINTER(NULL);
  SupportRequestRows* rows = (SupportRequestRows*)request;
  if (!is_funcclause(rows->node)) PG_RETURN_POINTER(NULL);
  const List* arguments = ((FuncExpr*)rows->node)->args;
  if (list_length(arguments) <= kK) PG_RETURN_POINTER(NULL);
  const Node* k = list_nth(arguments, kK);
  if (!IsA(k, Const) || ((const Const*)k)->constisnull) PG_RETURN_POINTER(NULL);
  rows->rows = Max(DatumGetInt32(((const Const*)k)->constvalue), 1);
  PG_RETURN_POINTER(rows);
}

// What a node says of itself, as jsonb.
Datum farvec_node(PG_FUNCTION_ARGS) {
  Patience patience = patience_for(DEFAULT_DEADLINE_MS);
  const Connection* connection = connection_to(text_to_cstring(PG_GETARG_TEXT_PP(0)), &patience);
  farvec_status status;
  farvec_error error;
  char* json = NULL;
  do {
    const farvec_wait wait = wait_of(&patience);
    status = library()->state(connection->handle, &wait, &json, &error);
  } while (is_to_repeat(&patience, status));
  if (status != FARVEC_OK) raise_library_error(&error, connection->address, &patience);
  char* text = pstrdup(json);
  library()->text_free(json);
  PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(text_of_utf8(text))));
}
