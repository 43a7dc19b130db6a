\echo Use "CREATE EXTENSION farvec" to load this file. \quit

-- The types, unless pgvector brings them. Its names, its bytes, our code.
DO $farvec$
DECLARE
  kind text;
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'vector') THEN
    CREATE FUNCTION farvec_needs(extension name) RETURNS void
      AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
    PERFORM farvec_needs('vector');
    DROP FUNCTION farvec_needs(name);
    RETURN;
  END IF;

  FOREACH kind IN ARRAY ARRAY['vector', 'halfvec'] LOOP
    -- The name of the schema comes in last, since it may have any of these words in it.
    EXECUTE pg_catalog.replace(pg_catalog.replace(pg_catalog.replace($sql$
CREATE TYPE KIND;

CREATE FUNCTION KIND_in(cstring, oid, integer) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_out(KIND) RETURNS cstring
  AS 'MODULE_PATHNAME', 'farvec_KIND_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_typmod_in(cstring[]) RETURNS integer
  AS 'MODULE_PATHNAME', 'farvec_KIND_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_recv(internal, oid, integer) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_send(KIND) RETURNS bytea
  AS 'MODULE_PATHNAME', 'farvec_KIND_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE KIND (INPUT = KIND_in, OUTPUT = KIND_out, TYPMOD_IN = KIND_typmod_in,
                  RECEIVE = KIND_recv, SEND = KIND_send, STORAGE = external);

CREATE FUNCTION l2_distance(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_l2_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION inner_product(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION cosine_distance(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_cosine_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION l1_distance(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_l1_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_l2_squared_distance(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_l2_squared_distance'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_negative_inner_product(KIND, KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_negative_inner_product'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_dims(KIND) RETURNS integer
  AS 'MODULE_PATHNAME', 'farvec_KIND_dims' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION LENGTH(KIND) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_KIND_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION l2_normalize(KIND) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_l2_normalize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION binary_quantize(KIND) RETURNS bit
  AS 'MODULE_PATHNAME', 'farvec_KIND_binary_quantize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subvector(KIND, integer, integer) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_subvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION KIND_add(KIND, KIND) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_sub(KIND, KIND) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_sub' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_mul(KIND, KIND) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_mul' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_concat(KIND, KIND) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION KIND_lt(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_le(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_eq(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_ne(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_ge(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_gt(KIND, KIND) RETURNS boolean
  AS 'MODULE_PATHNAME', 'farvec_KIND_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_cmp(KIND, KIND) RETURNS integer
  AS 'MODULE_PATHNAME', 'farvec_KIND_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION KIND_accum(double precision[], KIND) RETURNS double precision[]
  AS 'MODULE_PATHNAME', 'farvec_KIND_accum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_combine(double precision[], double precision[]) RETURNS double precision[]
  AS 'MODULE_PATHNAME', 'farvec_KIND_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_avg(double precision[]) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_avg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE avg(KIND) (SFUNC = KIND_accum, STYPE = double precision[], FINALFUNC = KIND_avg,
                            COMBINEFUNC = KIND_combine, INITCOND = '{0}', PARALLEL = SAFE);
CREATE AGGREGATE sum(KIND) (SFUNC = KIND_add, STYPE = KIND, COMBINEFUNC = KIND_add,
                            PARALLEL = SAFE);

CREATE FUNCTION KIND(KIND, integer, boolean) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_to_modifier' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION array_to_KIND(integer[], integer, boolean) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_of_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION array_to_KIND(real[], integer, boolean) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_of_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION array_to_KIND(double precision[], integer, boolean) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_of_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION array_to_KIND(numeric[], integer, boolean) RETURNS KIND
  AS 'MODULE_PATHNAME', 'farvec_KIND_of_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION KIND_to_float4(KIND, integer, boolean) RETURNS real[]
  AS 'MODULE_PATHNAME', 'farvec_KIND_to_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (KIND AS KIND) WITH FUNCTION KIND(KIND, integer, boolean) AS IMPLICIT;
CREATE CAST (integer[] AS KIND) WITH FUNCTION array_to_KIND(integer[], integer, boolean)
  AS ASSIGNMENT;
CREATE CAST (real[] AS KIND) WITH FUNCTION array_to_KIND(real[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (double precision[] AS KIND)
  WITH FUNCTION array_to_KIND(double precision[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (numeric[] AS KIND) WITH FUNCTION array_to_KIND(numeric[], integer, boolean)
  AS ASSIGNMENT;

CREATE OPERATOR <-> (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = l2_distance,
                     COMMUTATOR = OPERATOR(SCHEMA.<->));
CREATE OPERATOR <#> (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_negative_inner_product,
                     COMMUTATOR = OPERATOR(SCHEMA.<#>));
CREATE OPERATOR <=> (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = cosine_distance,
                     COMMUTATOR = OPERATOR(SCHEMA.<=>));
CREATE OPERATOR <+> (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = l1_distance,
                     COMMUTATOR = OPERATOR(SCHEMA.<+>));

CREATE OPERATOR + (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_add,
                   COMMUTATOR = OPERATOR(SCHEMA.+));
CREATE OPERATOR - (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_sub);
CREATE OPERATOR * (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_mul,
                   COMMUTATOR = OPERATOR(SCHEMA.*));
CREATE OPERATOR || (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_concat);

CREATE OPERATOR < (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_lt,
                   COMMUTATOR = OPERATOR(SCHEMA.>), NEGATOR = OPERATOR(SCHEMA.>=),
                   RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_le,
                    COMMUTATOR = OPERATOR(SCHEMA.>=), NEGATOR = OPERATOR(SCHEMA.>),
                    RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR = (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_eq,
                   COMMUTATOR = OPERATOR(SCHEMA.=), NEGATOR = OPERATOR(SCHEMA.<>),
                   RESTRICT = eqsel, JOIN = eqjoinsel, MERGES);
CREATE OPERATOR <> (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_ne,
                    COMMUTATOR = OPERATOR(SCHEMA.<>), NEGATOR = OPERATOR(SCHEMA.=),
                    RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR >= (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_ge,
                    COMMUTATOR = OPERATOR(SCHEMA.<=), NEGATOR = OPERATOR(SCHEMA.<),
                    RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR > (LEFTARG = KIND, RIGHTARG = KIND, FUNCTION = KIND_gt,
                   COMMUTATOR = OPERATOR(SCHEMA.<), NEGATOR = OPERATOR(SCHEMA.<=),
                   RESTRICT = scalargtsel, JOIN = scalargtjoinsel);

CREATE OPERATOR CLASS KIND_ops DEFAULT FOR TYPE KIND USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 KIND_cmp(KIND, KIND);
$sql$, 'KIND', kind), 'LENGTH', CASE kind WHEN 'vector' THEN 'vector_norm' ELSE 'l2_norm' END),
      'SCHEMA', '@extschema@');
  END LOOP;

  EXECUTE $sql$
CREATE FUNCTION halfvec_to_vector(halfvec, integer, boolean) RETURNS vector
  AS 'MODULE_PATHNAME', 'farvec_halfvec_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_to_halfvec(vector, integer, boolean) RETURNS halfvec
  AS 'MODULE_PATHNAME', 'farvec_vector_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (halfvec AS vector) WITH FUNCTION halfvec_to_vector(halfvec, integer, boolean)
  AS ASSIGNMENT;
CREATE CAST (vector AS halfvec) WITH FUNCTION vector_to_halfvec(vector, integer, boolean)
  AS IMPLICIT;
CREATE CAST (vector AS real[]) WITH FUNCTION vector_to_float4(vector, integer, boolean)
  AS IMPLICIT;
CREATE CAST (halfvec AS real[]) WITH FUNCTION halfvec_to_float4(halfvec, integer, boolean)
  AS ASSIGNMENT;

CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_hamming_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION jaccard_distance(bit, bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'farvec_jaccard_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance,
                     COMMUTATOR = OPERATOR(@extschema@.<~>));
CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = jaccard_distance,
                     COMMUTATOR = OPERATOR(@extschema@.<%>));
$sql$;
END
$farvec$;

-- Searches. An untyped query is a text, which is read as what the node has.
CREATE FUNCTION farvec_search_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT;

DO $farvec$
DECLARE
  types pg_catalog.text;
  query pg_catalog.text[];
BEGIN
  -- Where the types are: in this schema, or in pgvector's.
  SELECT pg_catalog.quote_ident(n.nspname) INTO types
  FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
  WHERE e.extname = 'vector';
  types := coalesce(types, '@extschema@');

  FOREACH query SLICE 1 IN ARRAY ARRAY[[types || '.vector', 'vector'], [types || '.halfvec', 'halfvec'],
                                       ['pg_catalog.bit', 'bits'], ['pg_catalog.text', 'text']] LOOP
    IF pg_catalog.to_regtype(query[1]) IS NULL THEN
      CONTINUE;  -- pgvector before 0.7 has no half vectors
    END IF;
    EXECUTE pg_catalog.format($sql$
CREATE FUNCTION farvec_search(
  node text, query %s, k integer DEFAULT NULL, filter text DEFAULT NULL,
  list integer DEFAULT NULL, refine integer DEFAULT NULL, probe integer DEFAULT NULL,
  within real DEFAULT NULL, exact boolean DEFAULT false, partial boolean DEFAULT false,
  columns text[] DEFAULT NULL, deadline interval DEFAULT '10 s',
  OUT id bigint, OUT distance real, OUT attributes jsonb)
  RETURNS SETOF record AS 'MODULE_PATHNAME', 'farvec_search_%s'
  LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10 COST 10000 SUPPORT farvec_search_support;
$sql$, query[1], query[2]);
  END LOOP;
END
$farvec$;

CREATE FUNCTION farvec_node(node text) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

-- Indexes. Classes of operators have pgvector's names, and are of the types that are there.
CREATE FUNCTION farvec_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE ACCESS METHOD farvec TYPE INDEX HANDLER farvec_handler;
COMMENT ON ACCESS METHOD farvec IS 'nearest vectors, which lie outside of PostgreSQL';

DO $farvec$
DECLARE
  types pg_catalog.text;
  class pg_catalog.text[];
  type pg_catalog.text;
BEGIN
  SELECT pg_catalog.quote_ident(n.nspname) INTO types
  FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
  WHERE e.extname = 'vector';
  types := coalesce(types, '@extschema@');

  FOREACH class SLICE 1 IN ARRAY ARRAY[
      ['vector', 'l2', '<->'], ['vector', 'ip', '<#>'], ['vector', 'cosine', '<=>'],
      ['halfvec', 'l2', '<->'], ['halfvec', 'ip', '<#>'], ['halfvec', 'cosine', '<=>'],
      ['bit', 'hamming', '<~>'], ['bit', 'jaccard', '<%>']] LOOP
    type := CASE class[1] WHEN 'bit' THEN 'pg_catalog.bit' ELSE types || '.' || class[1] END;
    IF pg_catalog.to_regtype(type) IS NULL OR
       pg_catalog.to_regoperator(types || '.' || class[3] || '(' ||
                                 type || ',' || type || ')') IS NULL THEN
      CONTINUE;  -- pgvector before 0.7 has neither half vectors nor distances of bits
    END IF;
    EXECUTE pg_catalog.format($sql$
CREATE FUNCTION farvec_class_%1$s_%2$s(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR CLASS %1$s_%2$s_ops FOR TYPE %3$s USING farvec AS
  OPERATOR 1 %4$s.%5$s (%3$s, %3$s) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 farvec_class_%1$s_%2$s(internal);
$sql$, class[1], class[2], type, types, class[3]);
  END LOOP;
END
$farvec$;

-- Columns after the vector are filters: conditions on them are handed to where the vectors lie. The
-- strategies are those of a B-tree, and for arrays 6 and 7.
DO $farvec$
DECLARE
  class pg_catalog.text[];
  one pg_catalog.text;
  other pg_catalog.text;
BEGIN
  CREATE OPERATOR FAMILY integer_ops USING farvec;
  CREATE OPERATOR FAMILY float_ops USING farvec;
  FOREACH class SLICE 1 IN ARRAY ARRAY[
      ['int2', 'FAMILY integer_ops'], ['int4', 'FAMILY integer_ops'], ['int8', 'FAMILY integer_ops'],
      ['float4', 'FAMILY float_ops'], ['float8', 'FAMILY float_ops'], ['bool', ''], ['text', ''],
      ['date', ''], ['timestamp', ''], ['timestamptz', '']] LOOP
    EXECUTE pg_catalog.format($sql$
CREATE OPERATOR CLASS %1$s_ops DEFAULT FOR TYPE pg_catalog.%1$s USING farvec %2$s AS
  OPERATOR 1 pg_catalog.<, OPERATOR 2 pg_catalog.<=, OPERATOR 3 pg_catalog.=,
  OPERATOR 4 pg_catalog.>=, OPERATOR 5 pg_catalog.>;
$sql$, class[1], class[2]);
  END LOOP;

  -- A column of one type of numbers is compared with those of another, and a text with current_user.
  FOREACH class SLICE 1 IN ARRAY ARRAY[
      ['integer_ops', 'int2', 'int4'], ['integer_ops', 'int2', 'int8'], ['integer_ops', 'int4', 'int8'],
      ['float_ops', 'float4', 'float8'], ['text_ops', 'text', 'name']] LOOP
    FOR one, other IN VALUES (class[2], class[3]), (class[3], class[2]) LOOP
      EXECUTE pg_catalog.format($sql$
ALTER OPERATOR FAMILY %1$s USING farvec ADD
  OPERATOR 1 pg_catalog.< (pg_catalog.%2$s, pg_catalog.%3$s),
  OPERATOR 2 pg_catalog.<= (pg_catalog.%2$s, pg_catalog.%3$s),
  OPERATOR 3 pg_catalog.= (pg_catalog.%2$s, pg_catalog.%3$s),
  OPERATOR 4 pg_catalog.>= (pg_catalog.%2$s, pg_catalog.%3$s),
  OPERATOR 5 pg_catalog.> (pg_catalog.%2$s, pg_catalog.%3$s);
$sql$, class[1], one, other);
    END LOOP;
  END LOOP;
END
$farvec$;

CREATE OPERATOR CLASS text_array_ops DEFAULT FOR TYPE pg_catalog.text[] USING farvec AS
  OPERATOR 6 pg_catalog.&& (pg_catalog.anyarray, pg_catalog.anyarray),
  OPERATOR 7 pg_catalog.@> (pg_catalog.anyarray, pg_catalog.anyarray);

CREATE FUNCTION farvec_check(index regclass) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION farvec_stats(index regclass) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION farvec_last_scan() RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
