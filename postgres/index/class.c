// Classes of operators: what an index of a column compares, and of which shape it is.
#include <postgres.h>

#include <access/htup_details.h>
#include <catalog/pg_amop.h>
#include <catalog/pg_opclass.h>
#include <catalog/pg_type.h>
#include <fmgr.h>
#include <utils/builtins.h>
#include <utils/catcache.h>
#include <utils/rel.h>
#include <utils/syscache.h>

#include "postgres/index/index.h"

#define KIND_PROCEDURE 1

// The support function of one class.
#define CLASS(name, its_type, its_metric)                  \
  PG_FUNCTION_INFO_V1(farvec_class_##name);                \
  Datum farvec_class_##name(PG_FUNCTION_ARGS) {            \
    static const IndexClass kind = {its_type, its_metric}; \
    (void)fcinfo;                                          \
    PG_RETURN_POINTER(&kind);                              \
  }

CLASS(vector_l2, FARVEC_F32, FARVEC_L2)
CLASS(vector_ip, FARVEC_F32, FARVEC_INNER_PRODUCT)
CLASS(vector_cosine, FARVEC_F32, FARVEC_COSINE)
CLASS(halfvec_l2, FARVEC_F16, FARVEC_L2)
CLASS(halfvec_ip, FARVEC_F16, FARVEC_INNER_PRODUCT)
CLASS(halfvec_cosine, FARVEC_F16, FARVEC_COSINE)
CLASS(bit_hamming, FARVEC_B1, FARVEC_HAMMING)
CLASS(bit_jaccard, FARVEC_B1, FARVEC_JACCARD)

const IndexClass* class_of(Relation index) {
  return (const IndexClass*)DatumGetPointer(
      FunctionCall1(index_getprocinfo(index, 1, KIND_PROCEDURE), PointerGetDatum(NULL)));
}

StoreShape shape_of(Relation index) {
  if (column_type(index->rd_opcintype[0]) != 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                    errmsg("the first column of index \"%s\" is no vector",
                           RelationGetRelationName(index)),
                    errhint("Columns after a vector are filters.")));
  }
  const IndexClass* kind = class_of(index);
  const int32 modifier = TupleDescAttr(RelationGetDescr(index), 0)->atttypmod;
  const IndexOptions* options = (const IndexOptions*)index->rd_options;
  if (modifier < 1) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the column of index \"%s\" has no dimensions", RelationGetRelationName(index)),
             errhint("Give its type a number, as in vector(768), or index an expression: "
                     "((embedding::vector(768)) vector_l2_ops).")));
  }
  StoreShape shape = {.type = kind->type, .metric = kind->metric, .dimension = (uint32)modifier};
  if (options != NULL) {
    shape.degree = (uint32)(options->degree > 0 ? options->degree : 2 * options->m);
    shape.build_list = (uint32)Max(options->build_list, options->ef_construction);
  }
  return shape;
}

// The class has the one operator by which it orders, and the function that says its kind.
bool farvec_validate(Oid class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(class));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "there is no operator class %u", class);
  const Form_pg_opclass form = (Form_pg_opclass)GETSTRUCT(tuple);
  if (column_type(form->opcintype) != 0) {
    const bool is_sound =
        validate_filter_class(form->opcfamily, form->opcintype, NameStr(form->opcname));
    ReleaseSysCache(tuple);
    return is_sound;
  }
  CatCList* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(form->opcfamily));
  bool valid = operators->n_members == 1;
  for (int i = 0; i < operators->n_members; i++) {
    const Form_pg_amop operator=(Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);
    valid = valid && operator->amopstrategy == 1 && operator->amoppurpose == AMOP_ORDER;
  }
  valid = valid &&
          SearchSysCacheExists4(AMPROCNUM, ObjectIdGetDatum(form->opcfamily),
                                ObjectIdGetDatum(form->opcintype),
                                ObjectIdGetDatum(form->opcintype), Int16GetDatum(KIND_PROCEDURE));
  if (!valid) {
    ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                   errmsg("operator class \"%s\" of access method farvec has not one operator and "
                          "one function",
                          NameStr(form->opcname))));
  }
  ReleaseCatCacheList(operators);
  ReleaseSysCache(tuple);
  return valid;
}
