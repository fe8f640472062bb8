-- The current functions of this domain. They are applied after the migrations when this file has changed. If a
-- function's arguments or result change, a migration drops it first.

-- Adds counts by name. Null counts as 0.
CREATE OR REPLACE FUNCTION add_counts(had jsonb, more jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  select case when more = '{}' then had when had = '{}' then more else (
    select jsonb_object_agg(code, least(count, 9000000000000000)) from (
      select key as code, sum(coalesce(value, '0')::numeric) as count
      from (select * from jsonb_each_text(had) union all select * from jsonb_each_text(more)) both_of
      group by key
    ) summed
  ) end
$$;
