-- The current functions of this domain. They are applied after the migrations when this file has changed. If a function's arguments or
-- result change, a migration drops it first. The trigger `occupy` is what keeps an address from being leased twice.

-- ---------------------------------------------------------------- time
-- When a lease begins and ends: the database's clock, read while the locks are held, so that of two leases of one address the second
-- begins after the first has ended. `now()` is the start of the transaction, which may have waited for the locks.
CREATE OR REPLACE FUNCTION inventory.clock() RETURNS timestamptz LANGUAGE sql AS $$ SELECT clock_timestamp() $$;

-- ---------------------------------------------------------------- bits
-- Bit k of the result: any of the units 8k … 8k + 7 is taken. Blocks of 8 and more are searched in these short strings, which makes a
-- quote eight times cheaper and a write dearer. All masks are constants, because masks in a table could be missing while a dump is
-- restored.
CREATE OR REPLACE FUNCTION inventory.eighths(bits varbit) RETURNS varbit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  size CONSTANT int := length(bits);
BEGIN
  IF size < 8 THEN RETURN ''; END IF;
  bits := bits | (bits << 1);
  bits := bits | (bits << 2);
  bits := (bits | (bits << 4)) & substring(('x' || repeat('80', 512))::varbit FROM 1 FOR size);
  -- Each step moves the right half's bits next to the left half's, in groups of 16, 32 … 4096.
  bits := (bits | (bits << 7)) & substring(('x' || repeat('c000', 256))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 14)) & substring(('x' || repeat('f0000000', 128))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 28)) & substring(('x' || repeat('ff' || repeat('0', 14), 64))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 56)) & substring(('x' || repeat('ffff' || repeat('0', 28), 32))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 112)) & substring(('x' || repeat(repeat('f', 8) || repeat('0', 56), 16))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 224)) & substring(('x' || repeat(repeat('f', 16) || repeat('0', 112), 8))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 448)) & substring(('x' || repeat(repeat('f', 32) || repeat('0', 224), 4))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 896)) & substring(('x' || repeat(repeat('f', 64) || repeat('0', 448), 2))::varbit FROM 1 FOR size);
  RETURN substring(bits | (bits << 1792) FROM 1 FOR size / 8);
END $$;

-- Bit i of the result: i is a multiple of the width, and bits i … i + width - 1 are all clear. A step of 1 is searched in `bits` and
-- one of 8 in `eighths`, both with a width of 1; a step of 256 in `eighths` with a width of 32.
CREATE OR REPLACE FUNCTION inventory.free_starts(bits varbit, width int) RETURNS varbit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF width = 1 THEN RETURN ~bits; END IF;
  bits := bits | (bits << 1);
  IF width = 2 THEN RETURN ~bits & substring(('x' || repeat('a', 128))::varbit FROM 1 FOR length(bits)); END IF;
  bits := bits | (bits << 2);
  IF width = 4 THEN RETURN ~bits & substring(('x' || repeat('8', 128))::varbit FROM 1 FOR length(bits)); END IF;
  bits := bits | (bits << 4);
  IF width = 8 THEN RETURN ~bits & substring(('x' || repeat('80', 64))::varbit FROM 1 FOR length(bits)); END IF;
  bits := bits | (bits << 8);
  IF width = 16 THEN RETURN ~bits & substring(('x' || repeat('8000', 32))::varbit FROM 1 FOR length(bits)); END IF;
  bits := bits | (bits << 16);
  RETURN ~bits & substring(('x' || repeat('80000000', 16))::varbit FROM 1 FOR length(bits));
END $$;

-- How many aligned blocks of 1, 8, 16, 32, 64, 128 and 256 units are free. A chunk has no block larger than itself.
CREATE OR REPLACE FUNCTION inventory.free_counts(bits varbit) RETURNS int[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  size CONSTANT int := length(bits);
  free1 CONSTANT int := size - bit_count(bits);
  free8 int := 0;
  free16 int := 0;
  free32 int := 0;
  free64 int := 0;
  free128 int := 0;
  free256 int := 0;
BEGIN
  IF size >= 8 THEN
    bits := bits | (bits << 1);
    bits := bits | (bits << 2);
    bits := bits | (bits << 4);
    free8 := bit_count(~bits & substring(('x' || repeat('80', 512))::varbit FROM 1 FOR size));
    bits := bits | (bits << 8);
    IF size >= 16 THEN
      free16 := bit_count(~bits & substring(('x' || repeat('8000', 256))::varbit FROM 1 FOR size));
    END IF;
    bits := bits | (bits << 16);
    IF size >= 32 THEN
      free32 := bit_count(~bits & substring(('x' || repeat('80000000', 128))::varbit FROM 1 FOR size));
    END IF;
    bits := bits | (bits << 32);
    IF size >= 64 THEN
      free64 := bit_count(~bits & substring(('x' || repeat('8000000000000000', 64))::varbit FROM 1 FOR size));
    END IF;
    bits := bits | (bits << 64);
    IF size >= 128 THEN
      free128 := bit_count(~bits & substring(('x' || repeat('8' || repeat('0', 31), 32))::varbit FROM 1 FOR size));
    END IF;
    bits := bits | (bits << 128);
    IF size >= 256 THEN
      free256 := bit_count(~bits & substring(('x' || repeat('8' || repeat('0', 63), 16))::varbit FROM 1 FOR size));
    END IF;
  END IF;
  RETURN ARRAY[free1, free8, free16, free32, free64, free128, free256];
END $$;

-- The position of a step in `free`.
CREATE OR REPLACE FUNCTION inventory.step_index(step int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_position('{1,8,16,32,64,128,256}'::int[], step)
$$;

-- The lowest `wanted` set bits, as positions from 0.
CREATE OR REPLACE FUNCTION inventory.first_set(bits varbit, wanted int) RETURNS int[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  found int[] := '{}';
  at int := 0;
  next int;
BEGIN
  WHILE cardinality(found) < wanted LOOP
    next := position(B'1' IN substring(bits FROM at + 1));
    EXIT WHEN next = 0;
    at := at + next;
    found := found || (at - 1);
  END LOOP;
  RETURN found;
END $$;

-- ---------------------------------------------------------------- addresses
-- A unit is an IPv4 address or an IPv6 /64. Returns the first address of the unit that lies `units` above `base`.
CREATE OR REPLACE FUNCTION inventory.unit_at(base inet, units bigint) RETURNS inet
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(base) = 4 THEN set_masklen(base, 32) + units
    -- The upper half of the address as a number; inet + bigint alone cannot reach the next /64.
    ELSE (regexp_replace(
      lpad(to_hex((('x' || encode(substring(inet_send(base) FROM 5 FOR 8), 'hex'))::bit(64)::bigint + units)), 16, '0'),
      '(....)(....)(....)(....)', '\1:\2:\3:\4::'))::inet END
$$;

-- The address of a unit that is sold: ::1 of a /64, because ::0 belongs to the routers.
CREATE OR REPLACE FUNCTION inventory.address_at(base inet, units bigint) RETURNS inet
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(base) = 4 THEN set_masklen(base, 32) + units ELSE inventory.unit_at(base, units) + 1 END
$$;

-- How many units a range has; 0 if it is too large or smaller than a /64.
CREATE OR REPLACE FUNCTION inventory.units_of(range cidr) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(range) = 4 THEN 1::bigint << (32 - masklen(range))
    WHEN masklen(range) BETWEEN 2 AND 64 THEN 1::bigint << (64 - masklen(range)) ELSE 0 END
$$;

-- ---------------------------------------------------------------- the inventory's lock
-- Leasing and releasing share this lock; a change of ranges or rules holds it alone. So a range cannot leave a server, and a rule
-- cannot be excluded, between a reservation's look and its write. A transaction with several reservations and releases holds it alone
-- from its first step, because two of these could deadlock.
CREATE OR REPLACE FUNCTION inventory.share() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(7301, 0) $$;

CREATE OR REPLACE FUNCTION inventory.own() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(7301, 0) $$;

-- ---------------------------------------------------------------- guards of the tables
-- These rules and those that share a site with one of them, ascending. An address is free for the rules if it is leased under none of
-- all these. Read it after taking the inventory's lock, or in the snapshot of a quote.
CREATE OR REPLACE FUNCTION inventory.intersecting(p_rules int[]) RETURNS int[]
LANGUAGE sql STABLE AS $$
  SELECT ARRAY(
    SELECT unnest(p_rules) UNION SELECT other_id FROM public.rule_intersections WHERE rule_id = ANY (p_rules) ORDER BY 1)
$$;

-- Raises the reason why blocks cannot be leased. Called only after they were refused.
CREATE OR REPLACE FUNCTION inventory.refuse_blocks(chunk_ids int[], lease_ids bigint[], rules int[], starts int[], lengths int[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  SELECT b.chunk_id, b.lease_id, c.id, c.server_id, c.size, b.start, b.length, l.id IS NOT NULL AS leased
  INTO bad
  FROM unnest(chunk_ids, lease_ids, starts, lengths) AS b(chunk_id, lease_id, start, length)
  LEFT JOIN chunks c ON c.id = b.chunk_id
  LEFT JOIN leases l ON l.id = b.lease_id AND l.state <> 'released' AND l.rules = refuse_blocks.rules AND l.step = b.length
  WHERE c.id IS NULL OR c.server_id IS NULL OR b.start + b.length > c.size OR l.id IS NULL
    OR c.excluded_rules && refuse_blocks.rules
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'block % + % of chunk % cannot be leased: %', bad.start, bad.length, bad.chunk_id, CASE
      WHEN bad.id IS NULL THEN 'there is no such chunk'
      WHEN bad.start + bad.length > bad.size THEN 'it reaches beyond the chunk'
      WHEN NOT bad.leased THEN format('lease %s is unknown, released, or of another step or other rules', bad.lease_id)
      WHEN bad.server_id IS NULL THEN 'its range belongs to no server'
      ELSE 'its range is excluded for one of the rules' END
      USING ERRCODE = 'check_violation';
  END IF;
  RAISE EXCEPTION 'address already leased under one of these rules' USING ERRCODE = 'exclusion_violation';
END $$;

-- Sets the bits of new blocks, if they are clear, and clear under intersecting rules too. Rows are locked in the order of (chunk,
-- rule), as everywhere, so that two statements cannot deadlock.
CREATE OR REPLACE FUNCTION inventory.occupy() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wanted bigint;
  done bigint;
BEGIN
  PERFORM inventory.share();
  WITH block AS (
    SELECT b.chunk_id, b.rules, sum(b.length) AS units,
      bit_or((substring(~B'0'::bit(4096) FROM 1 FOR c.size) << (c.size - b.length)) >> b.start) AS mask
    FROM added b
    JOIN chunks c ON c.id = b.chunk_id AND c.server_id IS NOT NULL AND NOT c.excluded_rules && b.rules
      AND b.start + b.length <= c.size
    JOIN leases l ON l.id = b.lease_id AND l.state <> 'released' AND l.rules = b.rules AND l.step = b.length
    WHERE b.released_at IS NULL
    GROUP BY 1, 2
  ), touched AS (
    SELECT chunk_id, rule_id, mask, units, NULL::varbit AS kept FROM block, unnest(rules) AS rule_id
    UNION ALL
    SELECT b.chunk_id, i.other_id, NULL, NULL, b.mask
    FROM block b JOIN rule_intersections i ON i.rule_id = ANY (b.rules) AND i.other_id <> ALL (b.rules)
  ), place AS MATERIALIZED (
    -- `mask` will be set; `kept` must be clear of others.
    SELECT chunk_id, rule_id, bit_or(mask) AS mask, sum(units) AS units, bit_or(kept) AS kept
    FROM touched GROUP BY 1, 2
  ), locked AS MATERIALIZED (
    SELECT p.*, u.bits FROM place p JOIN rule_usage u USING (chunk_id, rule_id)
    ORDER BY p.chunk_id, p.rule_id FOR NO KEY UPDATE OF u
  ), clash AS MATERIALIZED (
    -- With a lease under the other rule, or with another block of this statement.
    SELECT 1 FROM locked
    WHERE bit_count(bits & kept) > 0 OR bit_count(mask & kept) > 0
  ), occupied AS (
    UPDATE rule_usage u SET bits = u.bits | l.mask FROM locked l
    -- The last condition finds blocks of this statement that overlap.
    WHERE u.chunk_id = l.chunk_id AND u.rule_id = l.rule_id AND l.mask IS NOT NULL AND NOT EXISTS (SELECT 1 FROM clash)
      AND bit_count(u.bits & l.mask) = 0 AND bit_count(l.mask) = l.units
    RETURNING l.units
  )
  SELECT (SELECT coalesce(sum(length * cardinality(rules)), 0) FROM added WHERE released_at IS NULL),
    (SELECT coalesce(sum(units), 0) FROM occupied)
  INTO wanted, done;
  IF done <> wanted THEN
    PERFORM inventory.refuse_blocks(array_agg(chunk_id), array_agg(lease_id), rules, array_agg(start), array_agg(length))
    FROM added WHERE released_at IS NULL GROUP BY rules;
  END IF;
  RETURN NULL;
END $$;

-- A block changes only when its lease is split, when it is released (once), and when its rest ends. Its bits are cleared when it is
-- released and does not rest. A deleted rule has no bits.
CREATE OR REPLACE FUNCTION inventory.vacate() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wanted bigint;
  done bigint;
BEGIN
  PERFORM inventory.share();
  -- A full join, so that a changed id is noticed.
  IF EXISTS (
    SELECT 1 FROM after a FULL JOIN before b USING (id)
    WHERE (a.chunk_id, a.start, a.length, a.rules, a.leased_at)
        IS DISTINCT FROM (b.chunk_id, b.start, b.length, b.rules, b.leased_at)
      OR (b.released_at IS NOT NULL AND a.released_at IS DISTINCT FROM b.released_at)
      -- Its rest begins with its release and ends once.
      OR (a.rests_until IS NOT NULL AND a.rests_until IS DISTINCT FROM b.rests_until AND b.released_at IS NOT NULL)
      -- A part of a lease becomes a lease of its own, of the same order and with the same rules.
      OR (a.lease_id <> b.lease_id AND (b.released_at IS NOT NULL OR a.released_at IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM leases n JOIN leases o ON o.id = b.lease_id
        WHERE n.id = a.lease_id AND n.state <> 'released'
          AND (n.order_id, n.group_id, n.step, n.rules) = (o.order_id, o.group_id, o.step, o.rules))))
  ) THEN
    RAISE EXCEPTION 'a lease block does not change but for its release' USING ERRCODE = 'restrict_violation';
  END IF;
  WITH block AS (
    SELECT b.chunk_id, b.rules, sum(b.length) AS units,
      bit_or((substring(~B'0'::bit(4096) FROM 1 FOR c.size) << (c.size - b.length)) >> b.start) AS mask
    FROM before b JOIN after a USING (id) JOIN chunks c ON c.id = b.chunk_id
    WHERE (b.released_at IS NULL OR b.rests_until IS NOT NULL) AND a.released_at IS NOT NULL AND a.rests_until IS NULL
    GROUP BY 1, 2
  ), place AS MATERIALIZED (
    SELECT chunk_id, rule_id, bit_or(mask) AS mask, sum(units) AS units
    FROM block, unnest(rules) AS rule_id JOIN acl_rules r ON r.id = rule_id AND r.deleted_at IS NULL GROUP BY 1, 2
  ), locked AS MATERIALIZED (
    SELECT p.* FROM place p JOIN rule_usage u USING (chunk_id, rule_id)
    ORDER BY p.chunk_id, p.rule_id FOR NO KEY UPDATE OF u
  ), vacated AS (
    UPDATE rule_usage u SET bits = u.bits & ~l.mask FROM locked l
    WHERE u.chunk_id = l.chunk_id AND u.rule_id = l.rule_id AND bit_count(u.bits & l.mask) = l.units
    RETURNING l.units
  )
  SELECT (SELECT coalesce(sum(b.length), 0)
      FROM before b JOIN after a USING (id), unnest(b.rules) AS rule_id
        JOIN acl_rules r ON r.id = rule_id AND r.deleted_at IS NULL
      WHERE (b.released_at IS NULL OR b.rests_until IS NOT NULL) AND a.released_at IS NOT NULL AND a.rests_until IS NULL),
    (SELECT coalesce(sum(units), 0) FROM vacated)
  INTO wanted, done;
  IF done <> wanted THEN
    RAISE EXCEPTION 'the usage of a rule does not match its leases; run the inventory audit'
      USING ERRCODE = 'data_corrupted';
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION inventory.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;

-- Bits are deleted only with their rule, and never while a block of it is live.
CREATE OR REPLACE FUNCTION inventory.keep_used() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM acl_rules WHERE id = OLD.rule_id AND deleted_at IS NULL) OR EXISTS (
    SELECT 1 FROM lease_blocks
    WHERE chunk_id = OLD.chunk_id AND released_at IS NULL AND rules @> ARRAY[OLD.rule_id]
  ) THEN
    RAISE EXCEPTION 'addresses are leased under this rule' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;

-- A lease goes from reserved to active to released, or straight to released. A split changes its number of blocks. Nothing else
-- changes.
CREATE OR REPLACE FUNCTION inventory.keep_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM public.lease_blocks WHERE lease_id = OLD.id) THEN
      RAISE EXCEPTION 'lease % has a history', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  END IF;
  -- Its blocks become fewer when a part of it becomes a lease of its own (inventory.split). The audit counts them.
  IF (NEW.id, NEW.order_id, NEW.group_id, NEW.step, NEW.rules, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.group_id, OLD.step, OLD.rules, OLD.created_at)
    OR NEW.blocks > OLD.blocks OR OLD.state = 'released' OR (OLD.state = 'active' AND NEW.state = 'reserved') THEN
    RAISE EXCEPTION 'lease % is % and does not change so', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- In place of the foreign key that lease_blocks does not have: a chunk with a history does not change.
CREATE OR REPLACE FUNCTION inventory.keep_chunk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.id, NEW.cidr_id, NEW.base, NEW.size) IS DISTINCT FROM (OLD.id, OLD.cidr_id, OLD.base, OLD.size) THEN
      RAISE EXCEPTION 'a chunk keeps its addresses' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF EXISTS (SELECT 1 FROM public.lease_blocks WHERE chunk_id = OLD.id) THEN
    RAISE EXCEPTION 'chunk % has a history', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;

-- ---------------------------------------------------------------- stock
-- Chunks that a group may sell from under these rules, of one family (4 or 6; 0: both). OFFSET 0 makes it one index scan for each
-- server. Without statistics, or with many chunks, the planner would read all chunks.
CREATE OR REPLACE FUNCTION inventory.open_chunks(p_group bigint, p_step int, p_rules int[], p_family int)
RETURNS TABLE (id int, size int)
LANGUAGE sql STABLE AS $$
  SELECT c.id, c.size
  FROM inventory.sellers s
  CROSS JOIN LATERAL (
    SELECT c.id, c.size FROM chunks c
    WHERE c.server_id = s.server_id AND NOT c.excluded_rules && p_rules AND c.size >= p_step
      AND NOT c.base <<= ANY (s.refused_ranges) AND (p_family = 0 OR family(c.base) = p_family) OFFSET 0
  ) c
  WHERE s.group_id = p_group
$$;

-- Addresses in aligned blocks that are free for all the rules at once. `p_avoid`: servers whose addresses do not count.
-- Generic plans and no JIT here and below, because planning and compiling would cost more than the query.
CREATE OR REPLACE FUNCTION inventory.stock(
  p_group bigint, p_step int, p_rules int[], p_avoid bigint[] DEFAULT '{}', p_family int DEFAULT 0
) RETURNS bigint
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
  avoid int[] := '{}';
BEGIN
  IF cardinality(p_avoid) > 0 THEN
    avoid := ARRAY(SELECT c.id FROM chunks c WHERE c.server_id = ANY (p_avoid));
  END IF;
  RETURN (
    SELECT coalesce(sum(CASE
        WHEN rules = 1 THEN u.least
        WHEN p_step <= 8 THEN length(u.bits) - bit_count(u.bits)
        ELSE bit_count(inventory.free_starts(u.bits, p_step / 8)) END), 0) * p_step
    FROM inventory.open_chunks(p_group, p_step, p_rules, p_family) c
    CROSS JOIN LATERAL (
      SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
      FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (taken)
    ) u
    WHERE c.id <> ALL (avoid) AND u.found = rules AND u.least > 0);
END $$;

-- The same for each live rule, alone or together with the selected rules.
CREATE OR REPLACE FUNCTION inventory.stock_by_rule(p_group bigint, p_step int, p_selected int[], p_family int DEFAULT 0)
RETURNS TABLE (rule_id int, stock bigint)
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  selected CONSTANT int := cardinality(p_selected);
  taken CONSTANT int[] := inventory.intersecting(p_selected);
  places CONSTANT int[] := ARRAY(SELECT c.id FROM inventory.open_chunks(p_group, p_step, p_selected, p_family) c);
BEGIN
  IF selected = 0 THEN
    RETURN QUERY
    SELECT r.id, CASE WHEN i.rule_id IS NULL THEN coalesce(f.blocks, 0) * p_step
      ELSE inventory.stock(p_group, p_step, ARRAY[r.id], '{}', p_family) END
    FROM acl_rules r
    LEFT JOIN (
      SELECT part.rule_id, sum(part.free) AS blocks FROM (
        -- One scan of all the chunks. The exclusions are few, and are subtracted.
        SELECT u.rule_id, u.free[at] AS free FROM rule_usage u WHERE u.chunk_id = ANY (places)
        UNION ALL
        SELECT u.rule_id, -u.free[at]
        FROM chunks c, unnest(c.excluded_rules) AS excluded, rule_usage u
        WHERE c.id = ANY (places) AND u.chunk_id = c.id AND u.rule_id = excluded
      ) part
      GROUP BY part.rule_id
    ) f ON f.rule_id = r.id
    LEFT JOIN (SELECT DISTINCT rule_id FROM rule_intersections) i ON i.rule_id = r.id
    WHERE r.deleted_at IS NULL;
  ELSE
    RETURN QUERY
    WITH base AS MATERIALIZED (
      SELECT c.id, c.excluded_rules, u.bits
      FROM chunks c
      CROSS JOIN LATERAL (
        SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
        FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (taken)
      ) u
      WHERE c.id = ANY (places) AND u.found = cardinality(taken) AND u.least > 0
    )
    SELECT r.id, CASE WHEN i.rule_id IS NULL THEN coalesce(f.blocks, 0)::bigint * p_step
      ELSE inventory.stock(p_group, p_step, ARRAY(SELECT unnest(p_selected || r.id) ORDER BY 1), '{}', p_family) END
    FROM acl_rules r
    LEFT JOIN (
      SELECT u.rule_id, sum(bit_count(
        CASE WHEN p_step = 1 THEN ~(b.bits | u.bits) WHEN p_step = 8 THEN ~(b.bits | u.eighths)
          ELSE inventory.free_starts(b.bits | u.eighths, p_step / 8) END)) AS blocks
      FROM base b JOIN rule_usage u ON u.chunk_id = b.id
      WHERE u.free[at] > 0 AND u.rule_id <> ALL (b.excluded_rules)
      GROUP BY u.rule_id
    ) f ON f.rule_id = r.id
    LEFT JOIN (SELECT DISTINCT rule_id FROM rule_intersections) i ON i.rule_id = r.id
    WHERE r.deleted_at IS NULL;
  END IF;
END $$;

-- ---------------------------------------------------------------- reserve and release
-- Fills a lease from the lowest chunk that holds it all and that no other transaction is filling. The hint lock is only tried, so that
-- buyers of one group spread over its chunks instead of queueing for the lowest. False: no chunk fits, or another buyer was faster.
-- Leases take their times from the clock, not from the transaction, so that leases of several processes follow each other.
CREATE OR REPLACE FUNCTION inventory.fill_one_chunk(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[], p_family int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
  -- One bit of the searched string stands for this many units.
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  chosen int;
  starts int[];
BEGIN
  -- Each OFFSET 0 keeps the order of work: sort the chunks, look into them one by one, then try the hint lock.
  SELECT fit.id INTO chosen FROM (
    SELECT c.id FROM (
      SELECT c.id, c.size FROM inventory.open_chunks(p_group, p_step, p_rules, p_family) c
      WHERE c.id <> ALL (p_avoid) ORDER BY c.id OFFSET 0
    ) c
    CROSS JOIN LATERAL (
      SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
      FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (taken)
    ) u
    WHERE u.found = rules AND u.least >= p_blocks AND CASE
      WHEN rules = 1 THEN true
      WHEN p_step <= 8 THEN length(u.bits) - bit_count(u.bits) >= p_blocks
      ELSE bit_count(inventory.free_starts(u.bits, p_step / 8)) >= p_blocks END
    OFFSET 0
  ) fit
  WHERE pg_try_advisory_xact_lock(7302, fit.id)
  LIMIT 1;
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT inventory.first_set(inventory.free_starts(bit_or(locked.bits), width), p_blocks) INTO starts
  FROM (
    SELECT CASE p_step WHEN 1 THEN bits ELSE eighths END AS bits FROM rule_usage WHERE chunk_id = chosen AND rule_id = ANY (taken)
    ORDER BY rule_id FOR NO KEY UPDATE
  ) locked;
  IF cardinality(starts) < p_blocks THEN RETURN false; END IF;
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules, leased_at)
  SELECT p_lease, chosen, start * unit, p_step, p_rules, inventory.clock() FROM unnest(starts) AS start;
  RETURN true;
END $$;

-- Fills a lease from the lowest chunks that together hold it, waiting for the transactions that hold them. If another buyer was faster,
-- it goes on upwards. Locks are taken in ascending order, so nothing deadlocks. False: too few blocks.
CREATE OR REPLACE FUNCTION inventory.fill_upwards(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[], p_family int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  needed int := p_blocks;
  beyond int := 0;
  chosen int[];
  enough boolean;
  got int;
BEGIN
  LOOP
    SELECT array_agg(id ORDER BY id), coalesce(sum(free), 0) >= needed INTO chosen, enough FROM (
      SELECT c.id, f.free, sum(f.free) OVER (ORDER BY c.id) - f.free AS below
      FROM inventory.open_chunks(p_group, p_step, p_rules, p_family) c
      CROSS JOIN LATERAL (
        SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
        FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (taken)
      ) u
      CROSS JOIN LATERAL (
        SELECT CASE WHEN rules = 1 THEN u.least ELSE bit_count(inventory.free_starts(u.bits, width)) END AS free
      ) f
      WHERE c.id <> ALL (p_avoid) AND c.id > beyond AND u.found = rules AND u.least > 0 AND f.free > 0
    ) fit
    WHERE below < needed;
    IF NOT enough THEN RETURN false; END IF;
    WITH locked AS MATERIALIZED (
      SELECT chunk_id, CASE p_step WHEN 1 THEN bits ELSE eighths END AS bits
      FROM rule_usage WHERE chunk_id = ANY (chosen) AND rule_id = ANY (taken)
      ORDER BY chunk_id, rule_id FOR NO KEY UPDATE
    ), place AS (
      SELECT chunk_id, unit * unnest(inventory.first_set(inventory.free_starts(bit_or(bits), width), needed)) AS start
      FROM locked GROUP BY chunk_id
    )
    INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules, leased_at)
    SELECT p_lease, chunk_id, start, p_step, p_rules, inventory.clock() FROM place ORDER BY chunk_id, start LIMIT needed;
    GET DIAGNOSTICS got = ROW_COUNT;
    needed := needed - got;
    IF needed = 0 THEN RETURN true; END IF;
    beyond := chosen[cardinality(chosen)];
  END LOOP;
END $$;

-- Fills a lease from everything that is free: first what the order never held, then what it gave back longest ago. It locks all rows of
-- the group, ascending, so it serves only orders that change their addresses when few are free.
CREATE OR REPLACE FUNCTION inventory.fill_least_known(
  p_lease bigint, p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_family int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  got int;
BEGIN
  WITH locked AS MATERIALIZED (
    SELECT u.chunk_id, CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END AS bits
    FROM inventory.open_chunks(p_group, p_step, p_rules, p_family) c
    JOIN rule_usage u ON u.chunk_id = c.id AND u.rule_id = ANY (taken)
    ORDER BY u.chunk_id, u.rule_id FOR NO KEY UPDATE OF u
  ), free AS MATERIALIZED (
    SELECT chunk_id, inventory.free_starts(bit_or(bits), width) AS starts
    FROM locked GROUP BY chunk_id HAVING count(*) = rules
  ), place AS (
    SELECT chunk_id, unit * unnest(inventory.first_set(starts, bit_count(starts)::int)) AS start FROM free
  ), held AS MATERIALIZED (
    SELECT b.chunk_id, b.start, b.length, b.lease_id
    FROM leases l JOIN lease_blocks b ON b.lease_id = l.id WHERE l.order_id = p_order AND l.id <> p_lease
  )
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules, leased_at)
  SELECT p_lease, chunk_id, start, p_step, p_rules, inventory.clock() FROM (
    SELECT p.chunk_id, p.start FROM place p
    LEFT JOIN held h ON h.chunk_id = p.chunk_id AND h.start < p.start + p_step AND p.start < h.start + h.length
    GROUP BY p.chunk_id, p.start
    ORDER BY coalesce(max(h.lease_id), 0), p.chunk_id, p.start LIMIT p_blocks
  ) chosen ORDER BY chunk_id, start;
  GET DIAGNOSTICS got = ROW_COUNT;
  RETURN got = p_blocks;
END $$;

-- Reserves aligned blocks that are free for all the (distinct) rules. Returns the lease, or null if the group has too few. Then nothing
-- has changed, and the caller's transaction goes on. `p_other`: prefer addresses that the order never held. `p_avoid`: servers to take
-- none from. NL001 is raised and caught inside: it undoes a try and releases its locks, so that the next one may start low.
CREATE OR REPLACE FUNCTION inventory.reserve(
  p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_other boolean DEFAULT false,
  p_avoid bigint[] DEFAULT '{}', p_family int DEFAULT 0
) RETURNS bigint
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  lease bigint;
  filled boolean;
  avoid int[] := '{}';
BEGIN
  IF inventory.step_index(p_step) IS NULL OR p_blocks < 1 OR cardinality(p_rules) = 0 THEN
    RAISE EXCEPTION 'cannot reserve % blocks of % under % rules', p_blocks, p_step, cardinality(p_rules)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM inventory.share();
  IF p_other THEN
    SELECT coalesce(array_agg(DISTINCT b.chunk_id), '{}') INTO avoid
    FROM leases l JOIN lease_blocks b ON b.lease_id = l.id WHERE l.order_id = p_order;
  END IF;
  IF cardinality(p_avoid) > 0 THEN
    avoid := avoid || ARRAY(SELECT c.id FROM chunks c WHERE c.server_id = ANY (p_avoid));
  END IF;
  FOR try IN 1 .. 4 LOOP
    -- A block given back below the search makes a try fail for no reason. Try once more if there is stock.
    CONTINUE WHEN try = 3 AND (p_other OR inventory.stock(p_group, p_step, p_rules, '{}', p_family) < p_blocks::bigint * p_step);
    -- An order that wants other addresses takes other chunks if there are some, and then other blocks.
    CONTINUE WHEN try = 4 AND (NOT p_other OR cardinality(p_avoid) > 0);
    BEGIN
      INSERT INTO leases (order_id, group_id, step, rules, blocks, created_at)
      VALUES (p_order, p_group, p_step, p_rules, p_blocks, inventory.clock()) RETURNING id INTO lease;
      filled := CASE try
        WHEN 1 THEN inventory.fill_one_chunk(lease, p_group, p_step, p_rules, p_blocks, avoid, p_family)
        WHEN 4 THEN inventory.fill_least_known(lease, p_order, p_group, p_step, p_rules, p_blocks, p_family)
        ELSE inventory.fill_upwards(lease, p_group, p_step, p_rules, p_blocks, avoid, p_family) END;
      IF filled THEN RETURN lease; END IF;
      RAISE EXCEPTION 'too few free blocks' USING ERRCODE = 'NL001';
    EXCEPTION WHEN SQLSTATE 'NL001' THEN NULL;
    END;
  END LOOP;
  RETURN NULL;
END $$;

-- Reserves as many of the blocks as are free. Returns the lease, or null if there is none. A faster buyer may leave less than was seen.
-- It tries three times and then gives up, because the caller asks for the rest later.
CREATE OR REPLACE FUNCTION inventory.reserve_part(
  p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid bigint[] DEFAULT '{}', p_family int DEFAULT 0
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  free bigint;
  lease bigint;
BEGIN
  FOR try IN 1 .. 3 LOOP
    free := inventory.stock(p_group, p_step, p_rules, p_avoid, p_family) / p_step;
    IF free < 1 THEN RETURN NULL; END IF;
    lease := inventory.reserve(p_order, p_group, p_step, p_rules, least(free, p_blocks)::int, false, p_avoid, p_family);
    IF lease IS NOT NULL THEN RETURN lease; END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- Gives back what the leases and the orders still hold. Returns the leases that this call released. Addresses that were in use rest
-- before they return to stock (`quarantine_hours` of the settings).
CREATE OR REPLACE FUNCTION inventory.release(p_leases bigint[], p_orders bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  released bigint[];
  at timestamptz;
  rest CONSTANT interval := coalesce((
    SELECT (value #>> '{}')::numeric FROM settings WHERE key = 'quarantine_hours' AND jsonb_typeof(value) = 'number'), 0)
    * interval '1 hour';
BEGIN
  PERFORM inventory.share();
  SELECT array_agg(id) INTO released FROM (
    SELECT id FROM leases
    WHERE (id = ANY (p_leases) OR order_id = ANY (p_orders)) AND state <> 'released'
    ORDER BY id FOR UPDATE
  ) live;
  IF released IS NULL THEN RETURN '{}'; END IF;
  at := inventory.clock();
  UPDATE leases SET state = 'released', released_at = at WHERE id = ANY (released);
  UPDATE lease_blocks b SET released_at = at,
    rests_until = CASE WHEN l.activated_at IS NOT NULL AND rest > interval '0' THEN at + rest END
  FROM leases l
  WHERE l.id = b.lease_id AND b.lease_id = ANY (released) AND b.released_at IS NULL;
  RETURN released;
END $$;

-- Activates the reservations of a paid order. Returns how many addresses this call activated, and counts them as delivered at their
-- ranges.
CREATE OR REPLACE FUNCTION inventory.activate(p_order bigint) RETURNS bigint
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  activated bigint[];
  addresses bigint;
BEGIN
  PERFORM inventory.share();
  WITH reserved AS (
    UPDATE leases SET state = 'active', activated_at = inventory.clock()
    WHERE order_id = p_order AND state = 'reserved' RETURNING id
  )
  SELECT array_agg(id) INTO activated FROM reserved;
  IF activated IS NULL THEN RETURN 0; END IF;
  WITH part AS MATERIALIZED (
    SELECT c.cidr_id, sum(b.length) AS units FROM lease_blocks b JOIN chunks c ON c.id = b.chunk_id
    WHERE b.lease_id = ANY (activated) AND b.released_at IS NULL GROUP BY 1
  ), locked AS MATERIALIZED (
    SELECT r.id, part.units FROM cidrs r JOIN part ON part.cidr_id = r.id ORDER BY r.id FOR NO KEY UPDATE OF r
  ), counted AS (
    UPDATE cidrs r SET delivery_count = r.delivery_count + locked.units FROM locked WHERE r.id = locked.id
  )
  SELECT coalesce(sum(units), 0) INTO addresses FROM part;
  RETURN addresses;
END $$;

-- Makes what a lease holds on one server (at most the last `p_most` blocks) a lease of its own, so that it can be replaced or kept
-- without the rest. Returns that lease: the same one if nothing else is left of it, null if it holds nothing there.
CREATE OR REPLACE FUNCTION inventory.split(p_lease bigint, p_server bigint, p_most int DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  part bigint[];
  held int;
  made bigint;
BEGIN
  PERFORM inventory.share();
  SELECT blocks INTO held FROM leases WHERE id = p_lease AND state <> 'released' FOR UPDATE;
  SELECT array_agg(id) INTO part FROM (
    SELECT b.id FROM lease_blocks b JOIN chunks c ON c.id = b.chunk_id
    WHERE b.lease_id = p_lease AND b.released_at IS NULL AND c.server_id = p_server
    ORDER BY b.id DESC LIMIT p_most
  ) last;
  IF held IS NULL OR part IS NULL THEN RETURN NULL; END IF;
  IF cardinality(part) = held THEN RETURN p_lease; END IF;
  INSERT INTO leases (order_id, group_id, step, rules, blocks, state, created_at, activated_at, replaced)
  SELECT order_id, group_id, step, rules, cardinality(part), state, created_at, activated_at, replaced
  FROM leases WHERE id = p_lease RETURNING id INTO made;
  UPDATE leases SET blocks = held - cardinality(part) WHERE id = p_lease;
  UPDATE lease_blocks SET lease_id = made WHERE id = ANY (part);
  RETURN made;
END $$;

-- Returns rested blocks to stock. Returns how many; call it again while that is `p_most`.
CREATE OR REPLACE FUNCTION inventory.end_rest(p_now timestamptz, p_most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ended int;
BEGIN
  PERFORM inventory.share();
  UPDATE lease_blocks SET rests_until = NULL WHERE id IN (
    SELECT id FROM lease_blocks WHERE rests_until <= p_now ORDER BY rests_until, id LIMIT p_most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END $$;

-- ---------------------------------------------------------------- ranges and rules
-- Adds a range and cuts it into chunks. A range that was removed before returns with its history.
CREATE OR REPLACE FUNCTION inventory.add_cidr(p_range cidr, p_server bigint, p_excluded int[], p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  units CONSTANT bigint := inventory.units_of(p_range);
  size CONSTANT int := least(units, 4096);
  added bigint;
BEGIN
  IF units < 1 OR units > 1 << 20 THEN
    RAISE EXCEPTION 'range % is not between 1 and 1048576 addresses (or /64s)', p_range
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM inventory.own();
  UPDATE cidrs SET deleted_at = NULL, server_id = p_server, excluded_rules = p_excluded
  WHERE id = (SELECT max(id) FROM cidrs WHERE cidr = p_range AND deleted_at IS NOT NULL) RETURNING id INTO added;
  IF FOUND THEN
    UPDATE chunks SET server_id = p_server, excluded_rules = p_excluded WHERE cidr_id = added;
  ELSE
    INSERT INTO cidrs (cidr, server_id, excluded_rules, created_at) VALUES (p_range, p_server, p_excluded, p_at)
    RETURNING id INTO added;
    INSERT INTO chunks (cidr_id, server_id, base, size, excluded_rules)
    SELECT added, p_server, inventory.unit_at(set_masklen(p_range::inet, CASE family(p_range) WHEN 4 THEN 32 ELSE 128 END),
      nth * 4096), size, p_excluded
    FROM generate_series(0, units / size - 1) AS nth ORDER BY nth;
  END IF;
  INSERT INTO rule_usage (chunk_id, rule_id, bits)
  SELECT c.id, r.id, repeat('0', c.size)::varbit FROM chunks c, acl_rules r
  WHERE c.cidr_id = added AND r.deleted_at IS NULL ORDER BY 1, 2;
  RETURN added;
END $$;

-- Gives a range to a server, or (null) takes it out of stock. Its leases stay.
CREATE OR REPLACE FUNCTION inventory.place_cidr(p_cidr bigint, p_server bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE cidrs SET server_id = p_server WHERE id = p_cidr;
  UPDATE chunks SET server_id = p_server WHERE cidr_id = p_cidr;
END $$;

CREATE OR REPLACE FUNCTION inventory.exclude_rules(p_cidr bigint, p_rules int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE cidrs SET excluded_rules = p_rules WHERE id = p_cidr;
  UPDATE chunks SET excluded_rules = p_rules WHERE cidr_id = p_cidr;
END $$;

-- Removes a range without leases (the triggers refuse any other). Rows that leases refer to stay.
CREATE OR REPLACE FUNCTION inventory.remove_cidr(p_cidr bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  -- Blocks at rest were given back, so they are not leased.
  UPDATE lease_blocks SET rests_until = NULL
  WHERE rests_until IS NOT NULL AND chunk_id IN (SELECT id FROM chunks WHERE cidr_id = p_cidr);
  DELETE FROM rule_usage WHERE chunk_id IN (SELECT id FROM chunks WHERE cidr_id = p_cidr);
  IF EXISTS (SELECT 1 FROM chunks c JOIN lease_blocks b ON b.chunk_id = c.id WHERE c.cidr_id = p_cidr) THEN
    UPDATE cidrs SET server_id = NULL, deleted_at = inventory.clock() WHERE id = p_cidr;
    UPDATE chunks SET server_id = NULL WHERE cidr_id = p_cidr;
  ELSE
    DELETE FROM chunks WHERE cidr_id = p_cidr;
    DELETE FROM cidrs WHERE id = p_cidr;
  END IF;
END $$;

-- A new rule is free on every unit of every range.
CREATE OR REPLACE FUNCTION inventory.open_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  INSERT INTO rule_usage (chunk_id, rule_id, bits)
  SELECT c.id, p_rule, repeat('0', c.size)::varbit FROM chunks c JOIN cidrs r ON r.id = c.cidr_id
  WHERE r.deleted_at IS NULL ORDER BY 1;
END $$;

-- Deletes a rule with its usage. Blocks that rest under it go on resting under the other rules of their order, until the last of these
-- is deleted.
CREATE OR REPLACE FUNCTION inventory.close_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE acl_rules SET deleted_at = inventory.clock() WHERE id = p_rule AND deleted_at IS NULL;
  DELETE FROM rule_usage WHERE rule_id = p_rule;
  DELETE FROM acl_group_rules WHERE rule_id = p_rule;
  UPDATE lease_blocks b SET rests_until = NULL
  WHERE b.rests_until IS NOT NULL AND b.rules @> ARRAY[p_rule]
    AND NOT EXISTS (SELECT 1 FROM acl_rules r WHERE r.id = ANY (b.rules) AND r.deleted_at IS NULL);
END $$;

-- ---------------------------------------------------------------- audit
-- How many rows differ from what the live blocks say: usage, the chunks' copies of their range, leases against blocks.
CREATE OR REPLACE FUNCTION inventory.differences() RETURNS bigint LANGUAGE sql STABLE SET jit = off AS $$
  SELECT (SELECT count(*) FROM inventory.expected_usage e FULL JOIN rule_usage u USING (chunk_id, rule_id)
      WHERE e.bits IS DISTINCT FROM u.bits OR u.free <> inventory.free_counts(u.bits) OR u.eighths <> inventory.eighths(u.bits))
    + (SELECT count(*) FROM chunks c JOIN cidrs r ON r.id = c.cidr_id
      WHERE c.server_id IS DISTINCT FROM r.server_id OR c.excluded_rules <> r.excluded_rules)
    + (SELECT count(*) FROM leases l FULL JOIN (
        SELECT lease_id, count(*) FILTER (WHERE released_at IS NULL) AS live, count(*) AS held
        FROM lease_blocks GROUP BY 1
      ) b ON b.lease_id = l.id
      WHERE l.id IS NULL OR b.live IS DISTINCT FROM (CASE WHEN l.state = 'released' THEN 0 ELSE l.blocks END)
        OR b.held <> l.blocks)
$$;

-- Units that two live blocks hold under one rule, counted without the bitmaps.
CREATE OR REPLACE FUNCTION inventory.double_leased() RETURNS bigint LANGUAGE sql STABLE SET jit = off AS $$
  SELECT coalesce(sum(held - distinct_units), 0)::bigint FROM (
    SELECT sum(b.length) AS held, (
      SELECT sum(upper(part) - lower(part)) FROM unnest(range_agg(int4range(b.start, b.start + b.length))) AS part
    ) AS distinct_units
    FROM lease_blocks b, unnest(b.rules) AS rule_id
    WHERE b.released_at IS NULL OR b.rests_until IS NOT NULL GROUP BY b.chunk_id, rule_id
  ) place
$$;
