-- Part of what an order misses is better than nothing: an order whose server is away or was given up takes as many blocks
-- as there are elsewhere.

DROP FUNCTION inventory.stock(bigint, int, int[]);--> statement-breakpoint
-- Addresses in aligned blocks that are free for all the rules at once. `p_avoid`: servers whose addresses do not count.
-- Generic plans throughout: planning anew would cost more than the query, as would compiling it.
CREATE FUNCTION inventory.stock(p_group bigint, p_step int, p_rules int[], p_avoid bigint[] DEFAULT '{}') RETURNS bigint
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
    FROM inventory.open_chunks(p_group, p_step, p_rules) c
    CROSS JOIN LATERAL (
      SELECT bit_or(CASE p_step WHEN 1 THEN u.bits ELSE u.eighths END) AS bits, min(u.free[at]) AS least, count(*) AS found
      FROM rule_usage u WHERE u.chunk_id = c.id AND u.rule_id = ANY (taken)
    ) u
    WHERE c.id <> ALL (avoid) AND u.found = rules AND u.least > 0);
END $$;--> statement-breakpoint

-- Reserves as many of the blocks as are free, as `inventory.reserve` reserves all. Returns the lease, or null when there
-- is none. A buyer that is faster leaves less than was seen: it looks again, and gives up in the end, since whoever takes
-- a part asks for the rest later.
CREATE FUNCTION inventory.reserve_part(
  p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid bigint[] DEFAULT '{}'
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  free bigint;
  lease bigint;
BEGIN
  FOR try IN 1 .. 3 LOOP
    free := inventory.stock(p_group, p_step, p_rules, p_avoid) / p_step;
    IF free < 1 THEN RETURN NULL; END IF;
    lease := inventory.reserve(p_order, p_group, p_step, p_rules, least(free, p_blocks)::int, false, p_avoid);
    IF lease IS NOT NULL THEN RETURN lease; END IF;
  END LOOP;
  RETURN NULL;
END $$;--> statement-breakpoint

DROP FUNCTION inventory.split(bigint, bigint);--> statement-breakpoint
-- Makes what a lease holds on one server a lease of its own, or the last `p_most` blocks of it, so that it can be replaced
-- or kept while the rest stays. Returns that lease: the same one where nothing else is left of it, null where it holds
-- nothing there.
CREATE FUNCTION inventory.split(p_lease bigint, p_server bigint, p_most int DEFAULT NULL) RETURNS bigint
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
