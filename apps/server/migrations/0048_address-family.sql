-- What is sold is of one address family: an IPv4 address, or an IPv6 /64. A server group may have ranges of both; stock,
-- reservations and replacements look at those of the family that was bought.

ALTER TABLE "variants" ADD COLUMN "address_family" text DEFAULT 'ipv4' NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "egress" text DEFAULT 'fixed' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "address_family" text DEFAULT 'ipv4' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "egress" text DEFAULT 'fixed' NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "egress" text DEFAULT 'fixed' NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_family" CHECK ("variants"."address_family" in ('ipv4', 'ipv6'));--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_egress" CHECK ("variants"."egress" = 'fixed' or ("variants"."egress" in ('request', 'session') and "variants"."address_family" = 'ipv6'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_family" CHECK ("orders"."address_family" in ('ipv4', 'ipv6', 'any'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_egress" CHECK ("orders"."egress" = 'fixed' or ("orders"."egress" in ('request', 'session') and "orders"."address_family" = 'ipv6'));--> statement-breakpoint
ALTER TABLE "agent_users" ADD CONSTRAINT "agent_users_egress" CHECK ("agent_users"."egress" in ('fixed', 'request', 'session'));--> statement-breakpoint
-- Until now a group sold whatever its ranges were. One with IPv6 ranges alone goes on selling these.
UPDATE variants v SET address_family = 'ipv6'
WHERE EXISTS (
    SELECT 1 FROM server_group_servers m JOIN cidrs r ON r.server_id = m.server_id AND r.deleted_at IS NULL
    WHERE m.group_id = v.server_group_id AND family(r.cidr) = 6)
  AND NOT EXISTS (
    SELECT 1 FROM server_group_servers m JOIN cidrs r ON r.server_id = m.server_id AND r.deleted_at IS NULL
    WHERE m.group_id = v.server_group_id AND family(r.cidr) = 4);--> statement-breakpoint
-- An order stays what it got. One that got both goes on getting either, so that it is never short of addresses.
UPDATE orders o SET address_family = CASE WHEN held.four THEN 'any' ELSE 'ipv6' END
FROM (
  SELECT l.order_id, bool_or(family(c.base) = 4) AS four
  FROM leases l JOIN lease_blocks b ON b.lease_id = l.id JOIN chunks c ON c.id = b.chunk_id
  GROUP BY 1 HAVING bool_or(family(c.base) = 6)
) held WHERE held.order_id = o.id;--> statement-breakpoint
UPDATE orders o SET address_family = 'ipv6' FROM variants v
WHERE v.id = o.variant_id AND v.address_family = 'ipv6'
  AND NOT EXISTS (SELECT 1 FROM leases l JOIN lease_blocks b ON b.lease_id = l.id WHERE l.order_id = o.id);--> statement-breakpoint

DROP FUNCTION inventory.reserve_part(bigint, bigint, int, int[], int, bigint[]);--> statement-breakpoint
DROP FUNCTION inventory.reserve(bigint, bigint, int, int[], int, boolean, bigint[]);--> statement-breakpoint
DROP FUNCTION inventory.fill_least_known(bigint, bigint, bigint, int, int[], int);--> statement-breakpoint
DROP FUNCTION inventory.fill_upwards(bigint, bigint, int, int[], int, int[]);--> statement-breakpoint
DROP FUNCTION inventory.fill_one_chunk(bigint, bigint, int, int[], int, int[]);--> statement-breakpoint
DROP FUNCTION inventory.stock_by_rule(bigint, int, int[]);--> statement-breakpoint
DROP FUNCTION inventory.stock(bigint, int, int[], bigint[]);--> statement-breakpoint
DROP FUNCTION inventory.open_chunks(bigint, int, int[]);--> statement-breakpoint
-- Chunks that a group may sell from under these rules, of one family (4 or 6; 0: of both). OFFSET 0 makes it one look at
-- the index per server: without statistics, or with many chunks, the planner would rather read them all.
CREATE FUNCTION inventory.open_chunks(p_group bigint, p_step int, p_rules int[], p_family int)
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
$$;--> statement-breakpoint

-- Addresses in aligned blocks that are free for all the rules at once. `p_avoid`: servers whose addresses do not count.
-- Generic plans throughout: planning anew would cost more than the query, as would compiling it.
CREATE FUNCTION inventory.stock(
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
END $$;--> statement-breakpoint

-- The same for each live rule: alone, or (where rules are selected already) together with those.
CREATE FUNCTION inventory.stock_by_rule(p_group bigint, p_step int, p_selected int[], p_family int DEFAULT 0)
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
        -- One scan of all the chunks; what is excluded is few, and taken off again.
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
END $$;--> statement-breakpoint

-- Fills a lease from one chunk that nobody else is filling, the lowest that holds it all. The hint lock is only ever
-- tried, so no one waits for it: buyers of one group spread over its chunks instead of queueing for the lowest.
-- False: no such chunk, or someone was faster.
CREATE FUNCTION inventory.fill_one_chunk(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[], p_family int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
  -- One bit of the string that is searched stands for this many units.
  unit CONSTANT int := least(p_step, 8);
  width CONSTANT int := p_step / unit;
  chosen int;
  starts int[];
BEGIN
  -- Each OFFSET 0 keeps an order of work: sort the chunks, then look into them one by one, then try for the hint.
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
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules)
  SELECT p_lease, chosen, start * unit, p_step, p_rules FROM unnest(starts) AS start;
  RETURN true;
END $$;--> statement-breakpoint

-- Fills a lease from the lowest chunks that together hold it, waiting for whoever is at them. Where someone was faster
-- it goes on upwards only: locks are taken in ascending order, so nobody waits in a circle. False: too few blocks.
CREATE FUNCTION inventory.fill_upwards(
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
-- held, as far as there are any. `p_avoid`: servers that give none.
--
-- NL001 is raised and caught in here: it undoes a try and lets go of its locks, so that the next one may start low.
CREATE FUNCTION inventory.reserve(
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
    -- A block given back below where a try was looking makes it fail for no reason: once more if there is stock.
    CONTINUE WHEN try = 3 AND (p_other OR inventory.stock(p_group, p_step, p_rules, '{}', p_family) < p_blocks::bigint * p_step);
    -- An order that wants other addresses takes other chunks while they last, and then other blocks.
    CONTINUE WHEN try = 4 AND (NOT p_other OR cardinality(p_avoid) > 0);
    BEGIN
      INSERT INTO leases (order_id, group_id, step, rules, blocks)
      VALUES (p_order, p_group, p_step, p_rules, p_blocks) RETURNING id INTO lease;
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
END $$;--> statement-breakpoint

-- Reserves as many of the blocks as are free, as `inventory.reserve` reserves all. Returns the lease, or null when there
-- is none. A buyer that is faster leaves less than was seen: it looks again, and gives up in the end, since whoever takes
-- a part asks for the rest later.
CREATE FUNCTION inventory.reserve_part(
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
