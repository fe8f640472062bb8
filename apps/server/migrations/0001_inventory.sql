-- The inventory's rules that tables cannot say. Lease blocks are the truth and the history; rule_usage is derived
-- from the live ones, one bit a unit, so that a quote or a reservation never walks leases. Triggers keep the two
-- equal and refuse a second lease of a unit under a rule, whoever writes. docs/INVENTORY.md explains it in prose.
-- Core PostgreSQL 15 and later, no extension.

-- Kept in step with tables.ts, whether or not the first migration already has it so.
ALTER TABLE acl_rules ADD COLUMN IF NOT EXISTS domains text[] NOT NULL DEFAULT '{}';--> statement-breakpoint
ALTER TABLE leases ADD COLUMN IF NOT EXISTS activated_at timestamptz;--> statement-breakpoint
-- A foreign key takes a shared lock on the chunk's row for every block: orders of strangers would meet there.
-- The guard below checks the lease and the chunk of a whole statement at once.
ALTER TABLE lease_blocks DROP CONSTRAINT IF EXISTS lease_blocks_lease_id_leases_id_fk;--> statement-breakpoint
ALTER TABLE lease_blocks DROP CONSTRAINT IF EXISTS lease_blocks_chunk_id_chunks_id_fk;--> statement-breakpoint
ALTER TABLE lease_blocks ADD CONSTRAINT lease_blocks_length CHECK (length IN (1, 8, 16, 32, 64, 128, 256) AND start >= 0);--> statement-breakpoint
ALTER TABLE leases ADD CONSTRAINT leases_size CHECK (step IN (1, 8, 16, 32, 64, 128, 256) AND blocks > 0);--> statement-breakpoint
-- An address has one owner: live ranges never overlap. Removed ones keep their rows for the history.
ALTER TABLE cidrs ADD CONSTRAINT cidrs_no_overlap EXCLUDE USING gist (cidr inet_ops WITH &&) WHERE (deleted_at IS NULL);--> statement-breakpoint

CREATE SCHEMA inventory;--> statement-breakpoint

-- ---------------------------------------------------------------- bits
-- Bit k of the result: any of the units 8k … 8k + 7 is taken. Blocks of 8 and more are looked for in these short
-- strings, so that a quote has an eighth of the work; a write pays for it.
-- All masks are constants of the text: ones read from a table could be empty while a dump is being restored.
CREATE FUNCTION inventory.eighths(bits varbit) RETURNS varbit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  size CONSTANT int := length(bits);
BEGIN
  IF size < 8 THEN RETURN ''; END IF;
  bits := bits | (bits << 1);
  bits := bits | (bits << 2);
  bits := (bits | (bits << 4)) & substring(('x' || repeat('80', 512))::varbit FROM 1 FOR size);
  -- Each turn moves the right half's bits next to the left half's, in groups of 16, 32 … 4096.
  bits := (bits | (bits << 7)) & substring(('x' || repeat('c000', 256))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 14)) & substring(('x' || repeat('f0000000', 128))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 28)) & substring(('x' || repeat('ff' || repeat('0', 14), 64))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 56)) & substring(('x' || repeat('ffff' || repeat('0', 28), 32))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 112)) & substring(('x' || repeat(repeat('f', 8) || repeat('0', 56), 16))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 224)) & substring(('x' || repeat(repeat('f', 16) || repeat('0', 112), 8))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 448)) & substring(('x' || repeat(repeat('f', 32) || repeat('0', 224), 4))::varbit FROM 1 FOR size);
  bits := (bits | (bits << 896)) & substring(('x' || repeat(repeat('f', 64) || repeat('0', 448), 2))::varbit FROM 1 FOR size);
  RETURN substring(bits | (bits << 1792) FROM 1 FOR size / 8);
END $$;--> statement-breakpoint

-- Bit i of the result: i is a multiple of the width, and bits i … i + width - 1 are all clear. A step of 1 is looked
-- for in `bits` and one of 8 in `eighths`, both with a width of 1; a step of 256 in `eighths` with a width of 32.
CREATE FUNCTION inventory.free_starts(bits varbit, width int) RETURNS varbit
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
END $$;--> statement-breakpoint

-- How many aligned blocks of 1, 8, 16, 32, 64, 128 and 256 units are free. A block larger than the chunk: none.
CREATE FUNCTION inventory.free_counts(bits varbit) RETURNS int[]
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
END $$;--> statement-breakpoint

-- The aligned free blocks of each step, and where they are. Generated, so that no writer can leave it behind; room in the page lets most updates stay on it.
ALTER TABLE rule_usage ADD COLUMN eighths varbit NOT NULL GENERATED ALWAYS AS (inventory.eighths(bits)) STORED;--> statement-breakpoint
ALTER TABLE rule_usage ADD COLUMN free int[] NOT NULL GENERATED ALWAYS AS (inventory.free_counts(bits)) STORED;--> statement-breakpoint
-- Plain storage keeps short values unpacked: reading 50 rules of a chunk would copy each of them first.
ALTER TABLE rule_usage ALTER free SET STORAGE PLAIN, ALTER eighths SET STORAGE PLAIN, ALTER bits SET STORAGE PLAIN;--> statement-breakpoint
ALTER TABLE rule_usage SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);--> statement-breakpoint

-- The place of a step in `free`.
CREATE FUNCTION inventory.step_index(step int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_position('{1,8,16,32,64,128,256}'::int[], step)
$$;--> statement-breakpoint

-- The lowest `wanted` set bits, as positions from 0.
CREATE FUNCTION inventory.first_set(bits varbit, wanted int) RETURNS int[]
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
END $$;--> statement-breakpoint

-- ---------------------------------------------------------------- addresses
-- A unit is an IPv4 address or an IPv6 /64; this is the first address of the unit that lies `units` above `base`.
CREATE FUNCTION inventory.unit_at(base inet, units bigint) RETURNS inet
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(base) = 4 THEN set_masklen(base, 32) + units
    -- The upper half of the address as a number; inet + bigint alone cannot reach the next /64.
    ELSE (regexp_replace(
      lpad(to_hex((('x' || encode(substring(inet_send(base) FROM 5 FOR 8), 'hex'))::bit(64)::bigint + units)), 16, '0'),
      '(....)(....)(....)(....)', '\1:\2:\3:\4::'))::inet END
$$;--> statement-breakpoint
-- The one address of a unit that is sold: of a /64 it is ::1, since ::0 belongs to the routers.
CREATE FUNCTION inventory.address_at(base inet, units bigint) RETURNS inet
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(base) = 4 THEN set_masklen(base, 32) + units ELSE inventory.unit_at(base, units) + 1 END
$$;--> statement-breakpoint
CREATE FUNCTION inventory.units_of(range cidr) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN family(range) = 4 THEN 1::bigint << (32 - masklen(range))
    WHEN masklen(range) BETWEEN 2 AND 64 THEN 1::bigint << (64 - masklen(range)) ELSE 0 END
$$;--> statement-breakpoint

-- ---------------------------------------------------------------- the inventory's lock
-- Everyone who leases or releases shares it; who changes ranges or rules has it alone. So a range cannot leave a
-- server, nor a rule be excluded, between a reservation's look and its write. A transaction that mixes several
-- reservations and releases takes it alone as its first step: in any order they could wait for each other.
CREATE FUNCTION inventory.share() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(7301, 0) $$;--> statement-breakpoint
CREATE FUNCTION inventory.own() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(7301, 0) $$;--> statement-breakpoint

-- ---------------------------------------------------------------- the guard
-- Why a statement was refused: asked only after it was.
CREATE FUNCTION inventory.refuse_blocks(chunk_ids int[], lease_ids bigint[], rules int[], starts int[], lengths int[])
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
END $$;--> statement-breakpoint

-- Sets the bits of new blocks, only where they are clear. The rows are locked in the order of (chunk, rule), as
-- everywhere, so that two statements never wait for each other crosswise.
CREATE FUNCTION inventory.occupy() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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
  ), place AS MATERIALIZED (
    SELECT chunk_id, rule_id, bit_or(mask) AS mask, sum(units) AS units
    FROM block, unnest(rules) AS rule_id GROUP BY 1, 2
  ), locked AS MATERIALIZED (
    SELECT p.* FROM place p JOIN rule_usage u USING (chunk_id, rule_id)
    ORDER BY p.chunk_id, p.rule_id FOR NO KEY UPDATE OF u
  ), occupied AS (
    UPDATE rule_usage u SET bits = u.bits | l.mask FROM locked l
    -- The second condition finds blocks of this very statement that overlap.
    WHERE u.chunk_id = l.chunk_id AND u.rule_id = l.rule_id
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
END $$;--> statement-breakpoint

-- A block never changes but for its one release, which clears its bits.
CREATE FUNCTION inventory.vacate() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wanted bigint;
  done bigint;
BEGIN
  PERFORM inventory.share();
  -- A full join, so that a changed id does not slip through.
  IF EXISTS (
    SELECT 1 FROM after a FULL JOIN before b USING (id)
    WHERE (a.lease_id, a.chunk_id, a.start, a.length, a.rules, a.leased_at)
        IS DISTINCT FROM (b.lease_id, b.chunk_id, b.start, b.length, b.rules, b.leased_at)
      OR (b.released_at IS NOT NULL AND a.released_at IS DISTINCT FROM b.released_at)
  ) THEN
    RAISE EXCEPTION 'a lease block does not change but for its release' USING ERRCODE = 'restrict_violation';
  END IF;
  WITH block AS (
    SELECT b.chunk_id, b.rules, sum(b.length) AS units,
      bit_or((substring(~B'0'::bit(4096) FROM 1 FOR c.size) << (c.size - b.length)) >> b.start) AS mask
    FROM before b JOIN after a USING (id) JOIN chunks c ON c.id = b.chunk_id
    WHERE b.released_at IS NULL AND a.released_at IS NOT NULL
    GROUP BY 1, 2
  ), place AS MATERIALIZED (
    SELECT chunk_id, rule_id, bit_or(mask) AS mask, sum(units) AS units
    FROM block, unnest(rules) AS rule_id GROUP BY 1, 2
  ), locked AS MATERIALIZED (
    SELECT p.* FROM place p JOIN rule_usage u USING (chunk_id, rule_id)
    ORDER BY p.chunk_id, p.rule_id FOR NO KEY UPDATE OF u
  ), vacated AS (
    UPDATE rule_usage u SET bits = u.bits & ~l.mask FROM locked l
    WHERE u.chunk_id = l.chunk_id AND u.rule_id = l.rule_id AND bit_count(u.bits & l.mask) = l.units
    RETURNING l.units
  )
  SELECT (SELECT coalesce(sum(b.length * cardinality(b.rules)), 0) FROM before b JOIN after a USING (id)
      WHERE b.released_at IS NULL AND a.released_at IS NOT NULL),
    (SELECT coalesce(sum(units), 0) FROM vacated)
  INTO wanted, done;
  IF done <> wanted THEN
    RAISE EXCEPTION 'the usage of a rule does not match its leases; run the inventory audit'
      USING ERRCODE = 'data_corrupted';
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint

CREATE FUNCTION inventory.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint

CREATE TRIGGER occupy AFTER INSERT ON lease_blocks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION inventory.occupy();--> statement-breakpoint
CREATE TRIGGER vacate AFTER UPDATE ON lease_blocks REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION inventory.vacate();--> statement-breakpoint
CREATE TRIGGER keep_live BEFORE DELETE ON lease_blocks FOR EACH ROW WHEN (OLD.released_at IS NULL)
  EXECUTE FUNCTION inventory.refuse('release a lease block before deleting it');--> statement-breakpoint
CREATE TRIGGER keep_all BEFORE TRUNCATE ON lease_blocks
  EXECUTE FUNCTION inventory.refuse('lease blocks are the history of who held which address');--> statement-breakpoint

-- Derived rows are written by the guard alone (its UPDATE runs one trigger deep).
CREATE TRIGGER guard_only BEFORE UPDATE ON rule_usage FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION inventory.refuse('rule_usage is derived from lease_blocks: lease or release there');--> statement-breakpoint
CREATE TRIGGER born_empty BEFORE INSERT ON rule_usage FOR EACH ROW WHEN (bit_count(NEW.bits) > 0)
  EXECUTE FUNCTION inventory.refuse('rule_usage is derived from lease_blocks: lease or release there');--> statement-breakpoint
CREATE TRIGGER keep_used BEFORE DELETE ON rule_usage FOR EACH ROW WHEN (bit_count(OLD.bits) > 0)
  EXECUTE FUNCTION inventory.refuse('addresses are leased under this rule');--> statement-breakpoint
CREATE TRIGGER keep_all BEFORE TRUNCATE ON rule_usage
  EXECUTE FUNCTION inventory.refuse('rule_usage is derived from lease_blocks');--> statement-breakpoint

-- A lease goes from reserved to active to released (or straight to released), and is otherwise as it was made.
CREATE FUNCTION inventory.keep_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM public.lease_blocks WHERE lease_id = OLD.id) THEN
      RAISE EXCEPTION 'lease % has a history', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  END IF;
  IF (NEW.id, NEW.order_id, NEW.group_id, NEW.step, NEW.rules, NEW.blocks, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.group_id, OLD.step, OLD.rules, OLD.blocks, OLD.created_at)
    OR OLD.state = 'released' OR (OLD.state = 'active' AND NEW.state = 'reserved') THEN
    RAISE EXCEPTION 'lease % is % and does not change so', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER keep_lease BEFORE UPDATE OR DELETE ON leases FOR EACH ROW EXECUTE FUNCTION inventory.keep_lease();--> statement-breakpoint
CREATE TRIGGER keep_all BEFORE TRUNCATE ON leases
  EXECUTE FUNCTION inventory.refuse('leases are the history of who held which address');--> statement-breakpoint

-- Stands for the foreign key that lease_blocks has not: a chunk with a history stays, and stays what it was.
CREATE FUNCTION inventory.keep_chunk() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;--> statement-breakpoint
CREATE TRIGGER keep_chunk BEFORE UPDATE OR DELETE ON chunks FOR EACH ROW EXECUTE FUNCTION inventory.keep_chunk();--> statement-breakpoint
CREATE TRIGGER keep_all BEFORE TRUNCATE ON chunks EXECUTE FUNCTION inventory.refuse('chunks carry the history of leases');--> statement-breakpoint
CREATE TRIGGER keep_range BEFORE UPDATE ON cidrs FOR EACH ROW WHEN (NEW.cidr IS DISTINCT FROM OLD.cidr)
  EXECUTE FUNCTION inventory.refuse('a range keeps its addresses: remove it and add another');--> statement-breakpoint
REVOKE TRUNCATE ON lease_blocks, leases, rule_usage, chunks, cidrs FROM PUBLIC;--> statement-breakpoint

-- ---------------------------------------------------------------- quotes
-- Servers whose ranges a group sells. Removed servers and groups sell nothing.
CREATE VIEW inventory.sellers AS
  SELECT m.group_id, m.server_id
  FROM server_group_servers m
  JOIN server_groups g ON g.id = m.group_id AND g.deleted_at IS NULL
  JOIN servers s ON s.id = m.server_id AND s.deleted_at IS NULL;--> statement-breakpoint

-- Chunks that a group may sell from under these rules. OFFSET 0 makes it one look at the index per server: without
-- statistics, or with many chunks, the planner would rather read them all.
CREATE FUNCTION inventory.open_chunks(p_group bigint, p_step int, p_rules int[]) RETURNS TABLE (id int, size int)
LANGUAGE sql STABLE AS $$
  SELECT c.id, c.size
  FROM inventory.sellers s
  CROSS JOIN LATERAL (
    SELECT c.id, c.size FROM chunks c
    WHERE c.server_id = s.server_id AND NOT c.excluded_rules && p_rules AND c.size >= p_step OFFSET 0
  ) c
  WHERE s.group_id = p_group
$$;--> statement-breakpoint

-- Addresses in aligned blocks that are free for all the rules at once.
-- Generic plans throughout: planning anew would cost more than the query, as would compiling it.
CREATE FUNCTION inventory.stock(p_group bigint, p_step int, p_rules int[]) RETURNS bigint
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  rules CONSTANT int := cardinality(p_rules);
BEGIN
  RETURN (
    SELECT coalesce(sum(CASE
        WHEN rules = 1 THEN u.least
        WHEN p_step <= 8 THEN length(u.bits) - bit_count(u.bits)
        ELSE bit_count(inventory.free_starts(u.bits, p_step / 8)) END), 0) * p_step
    FROM inventory.open_chunks(p_group, p_step, p_rules) c
    CROSS JOIN LATERAL (
      SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
      FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (p_rules)
    ) u
    WHERE u.found = rules AND u.least > 0);
END $$;--> statement-breakpoint

-- The same for each live rule: alone, or (where rules are selected already) together with those.
CREATE FUNCTION inventory.stock_by_rule(p_group bigint, p_step int, p_selected int[])
RETURNS TABLE (rule_id int, stock bigint)
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  selected CONSTANT int := cardinality(p_selected);
  places CONSTANT int[] := ARRAY(SELECT c.id FROM inventory.open_chunks(p_group, p_step, p_selected) c);
BEGIN
  IF selected = 0 THEN
    RETURN QUERY
    SELECT r.id, coalesce(f.blocks, 0) * p_step
    FROM acl_rules r
    LEFT JOIN (
      SELECT part.rule_id, sum(part.free) AS blocks FROM (
        -- One scan of all the chunks; what is excluded is few, and taken off again.
        SELECT u.rule_id, u.free[at] AS free FROM rule_usage u WHERE u.chunk_id = ANY (places)
        UNION ALL
        SELECT u.rule_id, -u.free[at]
        FROM chunks c, unnest(c.excluded_rules) AS excluded, rule_usage u
        WHERE c.id = ANY (places) AND u.chunk_id = c.id AND u.rule_id = excluded
      ) part
      GROUP BY part.rule_id
    ) f ON f.rule_id = r.id
    WHERE r.deleted_at IS NULL;
  ELSE
    RETURN QUERY
    WITH base AS MATERIALIZED (
      SELECT c.id, c.excluded_rules, u.bits
      FROM chunks c
      CROSS JOIN LATERAL (
        SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
        FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (p_selected)
      ) u
      WHERE c.id = ANY (places) AND u.found = selected AND u.least > 0
    )
    SELECT r.id, coalesce(f.blocks, 0)::bigint * p_step
    FROM acl_rules r
    LEFT JOIN (
      SELECT u.rule_id, sum(bit_count(
        CASE WHEN p_step = 1 THEN ~(b.bits | u.bits) WHEN p_step = 8 THEN ~(b.bits | u.eighths)
          ELSE inventory.free_starts(b.bits | u.eighths, p_step / 8) END)) AS blocks
      FROM base b JOIN rule_usage u ON u.chunk_id = b.id
      WHERE u.free[at] > 0 AND u.rule_id <> ALL (b.excluded_rules)
      GROUP BY u.rule_id
    ) f ON f.rule_id = r.id
    WHERE r.deleted_at IS NULL;
  END IF;
END $$;--> statement-breakpoint

-- ---------------------------------------------------------------- reserve and release
-- Fills a lease from one chunk that nobody else is filling, the lowest that holds it all. The hint lock is only ever
-- tried, so no one waits for it: buyers of one group spread over its chunks instead of queueing for the lowest.
-- False: no such chunk, or someone was faster.
CREATE FUNCTION inventory.fill_one_chunk(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  rules CONSTANT int := cardinality(p_rules);
  -- One bit of the string that is searched stands for this many units.
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  chosen int;
  starts int[];
BEGIN
  -- Each OFFSET 0 keeps an order of work: sort the chunks, then look into them one by one, then try for the hint.
  SELECT fit.id INTO chosen FROM (
    SELECT c.id FROM (
      SELECT c.id, c.size FROM inventory.open_chunks(p_group, p_step, p_rules) c
      WHERE c.id <> ALL (p_avoid) ORDER BY c.id OFFSET 0
    ) c
    CROSS JOIN LATERAL (
      SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
      FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (p_rules)
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
    SELECT CASE p_step WHEN 1 THEN bits ELSE eighths END AS bits FROM rule_usage WHERE chunk_id = chosen AND rule_id = ANY (p_rules)
    ORDER BY rule_id FOR NO KEY UPDATE
  ) locked;
  IF cardinality(starts) < p_blocks THEN RETURN false; END IF;
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules)
  SELECT p_lease, chosen, start * unit, p_step, p_rules FROM unnest(starts) AS start;
  RETURN true;
END $$;--> statement-breakpoint

-- Fills a lease from the lowest chunks that together hold it, waiting for whoever is at them. Where someone was faster
-- it goes on upwards only: locks are taken in ascending order, so nobody waits in a circle. False: too few blocks.
CREATE FUNCTION inventory.fill_upwards(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  rules CONSTANT int := cardinality(p_rules);
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
      FROM inventory.open_chunks(p_group, p_step, p_rules) c
      CROSS JOIN LATERAL (
        SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
        FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (p_rules)
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
      FROM rule_usage WHERE chunk_id = ANY (chosen) AND rule_id = ANY (p_rules)
      ORDER BY chunk_id, rule_id FOR NO KEY UPDATE
    ), place AS (
      SELECT chunk_id, unit * unnest(inventory.first_set(inventory.free_starts(bit_or(bits), width), needed)) AS start
      FROM locked GROUP BY chunk_id
    )
    INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules)
    SELECT p_lease, chunk_id, start, p_step, p_rules FROM place ORDER BY chunk_id, start LIMIT needed;
    GET DIAGNOSTICS got = ROW_COUNT;
    needed := needed - got;
    IF needed = 0 THEN RETURN true; END IF;
    beyond := chosen[cardinality(chosen)];
  END LOOP;
END $$;--> statement-breakpoint

-- Fills a lease out of everything that is free, first what the order never held, then what it gave back longest ago.
-- Locks the whole group's rows, ascending: only for an order that changes its addresses where the choice is small.
CREATE FUNCTION inventory.fill_least_known(
  p_lease bigint, p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  rules CONSTANT int := cardinality(p_rules);
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  got int;
BEGIN
  WITH locked AS MATERIALIZED (
    SELECT u.chunk_id, CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END AS bits
    FROM inventory.open_chunks(p_group, p_step, p_rules) c
    JOIN rule_usage u ON u.chunk_id = c.id AND u.rule_id = ANY (p_rules)
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
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules)
  SELECT p_lease, chunk_id, start, p_step, p_rules FROM (
    SELECT p.chunk_id, p.start FROM place p
    LEFT JOIN held h ON h.chunk_id = p.chunk_id AND h.start < p.start + p_step AND p.start < h.start + h.length
    GROUP BY p.chunk_id, p.start
    ORDER BY coalesce(max(h.lease_id), 0), p.chunk_id, p.start LIMIT p_blocks
  ) chosen ORDER BY chunk_id, start;
  GET DIAGNOSTICS got = ROW_COUNT;
  RETURN got = p_blocks;
END $$;--> statement-breakpoint

-- Reserves aligned blocks that are free for all the rules (distinct). Returns the lease, or null when the group has
-- too few: then nothing has changed, and the caller's transaction goes on. `p_other`: addresses that the order never
-- held, as far as there are any.
--
-- NL001 is raised and caught in here: it undoes a try and lets go of its locks, so that the next one may start low.
CREATE FUNCTION inventory.reserve(
  p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_other boolean DEFAULT false
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
  FOR try IN 1 .. 4 LOOP
    -- A block given back below where a try was looking makes it fail for no reason: once more if there is stock.
    CONTINUE WHEN try = 3 AND (p_other OR inventory.stock(p_group, p_step, p_rules) < p_blocks::bigint * p_step);
    -- An order that wants other addresses takes other chunks while they last, and then other blocks.
    CONTINUE WHEN try = 4 AND NOT p_other;
    BEGIN
      INSERT INTO leases (order_id, group_id, step, rules, blocks)
      VALUES (p_order, p_group, p_step, p_rules, p_blocks) RETURNING id INTO lease;
      filled := CASE try
        WHEN 1 THEN inventory.fill_one_chunk(lease, p_group, p_step, p_rules, p_blocks, avoid)
        WHEN 4 THEN inventory.fill_least_known(lease, p_order, p_group, p_step, p_rules, p_blocks)
        ELSE inventory.fill_upwards(lease, p_group, p_step, p_rules, p_blocks, avoid) END;
      IF filled THEN RETURN lease; END IF;
      RAISE EXCEPTION 'too few free blocks' USING ERRCODE = 'NL001';
    EXCEPTION WHEN SQLSTATE 'NL001' THEN NULL;
    END;
  END LOOP;
  RETURN NULL;
END $$;--> statement-breakpoint

-- Gives back what the leases, and the orders, still hold. Returns the leases that this call released.
CREATE FUNCTION inventory.release(p_leases bigint[], p_orders bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  released bigint[];
BEGIN
  PERFORM inventory.share();
  SELECT array_agg(id) INTO released FROM (
    SELECT id FROM leases
    WHERE (id = ANY (p_leases) OR order_id = ANY (p_orders)) AND state <> 'released'
    ORDER BY id FOR UPDATE
  ) live;
  IF released IS NULL THEN RETURN '{}'; END IF;
  UPDATE leases SET state = 'released', released_at = now() WHERE id = ANY (released);
  UPDATE lease_blocks SET released_at = now() WHERE lease_id = ANY (released) AND released_at IS NULL;
  RETURN released;
END $$;--> statement-breakpoint

-- The order was paid: its reservations become active. Returns the addresses that this call activated, and counts them
-- at their ranges as delivered.
CREATE FUNCTION inventory.activate(p_order bigint) RETURNS bigint
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  activated bigint[];
  addresses bigint;
BEGIN
  PERFORM inventory.share();
  WITH reserved AS (
    UPDATE leases SET state = 'active', activated_at = now() WHERE order_id = p_order AND state = 'reserved' RETURNING id
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
END $$;--> statement-breakpoint

-- ---------------------------------------------------------------- ranges and rules
-- Adds a range and cuts it into chunks. One that was removed before comes back with its history.
CREATE FUNCTION inventory.add_cidr(p_range cidr, p_server bigint, p_excluded int[]) RETURNS bigint LANGUAGE plpgsql AS $$
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
    INSERT INTO cidrs (cidr, server_id, excluded_rules) VALUES (p_range, p_server, p_excluded) RETURNING id INTO added;
    INSERT INTO chunks (cidr_id, server_id, base, size, excluded_rules)
    SELECT added, p_server, inventory.unit_at(set_masklen(p_range::inet, CASE family(p_range) WHEN 4 THEN 32 ELSE 128 END),
      nth * 4096), size, p_excluded
    FROM generate_series(0, units / size - 1) AS nth ORDER BY nth;
  END IF;
  INSERT INTO rule_usage (chunk_id, rule_id, bits)
  SELECT c.id, r.id, repeat('0', c.size)::varbit FROM chunks c, acl_rules r
  WHERE c.cidr_id = added AND r.deleted_at IS NULL ORDER BY 1, 2;
  RETURN added;
END $$;--> statement-breakpoint

-- Hands a range to a server, or (null) takes it out of stock; what is leased of it stays leased.
CREATE FUNCTION inventory.place_cidr(p_cidr bigint, p_server bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE cidrs SET server_id = p_server WHERE id = p_cidr;
  UPDATE chunks SET server_id = p_server WHERE cidr_id = p_cidr;
END $$;--> statement-breakpoint

CREATE FUNCTION inventory.exclude_rules(p_cidr bigint, p_rules int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE cidrs SET excluded_rules = p_rules WHERE id = p_cidr;
  UPDATE chunks SET excluded_rules = p_rules WHERE cidr_id = p_cidr;
END $$;--> statement-breakpoint

-- Removes a range that nothing is leased of (the triggers refuse another): its rows stay where leases remember them.
CREATE FUNCTION inventory.remove_cidr(p_cidr bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  DELETE FROM rule_usage WHERE chunk_id IN (SELECT id FROM chunks WHERE cidr_id = p_cidr);
  IF EXISTS (SELECT 1 FROM chunks c JOIN lease_blocks b ON b.chunk_id = c.id WHERE c.cidr_id = p_cidr) THEN
    UPDATE cidrs SET server_id = NULL, deleted_at = now() WHERE id = p_cidr;
    UPDATE chunks SET server_id = NULL WHERE cidr_id = p_cidr;
  ELSE
    DELETE FROM chunks WHERE cidr_id = p_cidr;
    DELETE FROM cidrs WHERE id = p_cidr;
  END IF;
END $$;--> statement-breakpoint

-- A new rule is free on every unit of every range.
CREATE FUNCTION inventory.open_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  INSERT INTO rule_usage (chunk_id, rule_id, bits)
  SELECT c.id, p_rule, repeat('0', c.size)::varbit FROM chunks c JOIN cidrs r ON r.id = c.cidr_id
  WHERE r.deleted_at IS NULL ORDER BY 1;
END $$;--> statement-breakpoint

-- Removes a rule that nothing is leased under (the trigger refuses another). The row stays for the history.
CREATE FUNCTION inventory.close_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  DELETE FROM rule_usage WHERE rule_id = p_rule;
  UPDATE acl_rules SET deleted_at = now() WHERE id = p_rule AND deleted_at IS NULL;
  DELETE FROM acl_group_rules WHERE rule_id = p_rule;
END $$;--> statement-breakpoint

-- ---------------------------------------------------------------- audit
-- What rule_usage should be, from the live lease blocks alone.
CREATE VIEW inventory.expected_usage AS
  SELECT c.id AS chunk_id, r.id AS rule_id, coalesce(l.bits, repeat('0', c.size)::varbit) AS bits
  FROM chunks c
  JOIN cidrs range ON range.id = c.cidr_id AND range.deleted_at IS NULL
  CROSS JOIN acl_rules r
  LEFT JOIN (
    SELECT b.chunk_id, rule_id,
      bit_or((substring(~B'0'::bit(4096) FROM 1 FOR c.size) << (c.size - b.length)) >> b.start) AS bits
    FROM lease_blocks b JOIN chunks c ON c.id = b.chunk_id, unnest(b.rules) AS rule_id
    WHERE b.released_at IS NULL GROUP BY 1, 2
  ) l ON l.chunk_id = c.id AND l.rule_id = r.id
  WHERE r.deleted_at IS NULL;--> statement-breakpoint

-- Rows that are not as the live blocks say: usage, copies that chunks hold of their range, leases against blocks.
CREATE FUNCTION inventory.differences() RETURNS bigint LANGUAGE sql STABLE SET jit = off AS $$
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
$$;--> statement-breakpoint

-- Counted without the bitmaps: units that two live blocks hold under one rule.
CREATE FUNCTION inventory.double_leased() RETURNS bigint LANGUAGE sql STABLE SET jit = off AS $$
  SELECT coalesce(sum(held - distinct_units), 0)::bigint FROM (
    SELECT sum(b.length) AS held, (
      SELECT sum(upper(part) - lower(part)) FROM unnest(range_agg(int4range(b.start, b.start + b.length))) AS part
    ) AS distinct_units
    FROM lease_blocks b, unnest(b.rules) AS rule_id
    WHERE b.released_at IS NULL GROUP BY b.chunk_id, rule_id
  ) place
$$;
