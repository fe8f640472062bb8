CREATE TABLE "rule_intersections" (
	"rule_id" integer NOT NULL,
	"other_id" integer NOT NULL,
	CONSTRAINT "rule_intersections_rule_id_other_id_pk" PRIMARY KEY("rule_id","other_id"),
	CONSTRAINT "rule_intersections_two" CHECK ("rule_intersections"."rule_id" <> "rule_intersections"."other_id")
);
--> statement-breakpoint
CREATE TABLE "rule_overlaps" (
	"narrow_rule_id" integer NOT NULL,
	"broad_rule_id" integer NOT NULL,
	"domain" text NOT NULL,
	"winner" text,
	CONSTRAINT "rule_overlaps_narrow_rule_id_broad_rule_id_domain_pk" PRIMARY KEY("narrow_rule_id","broad_rule_id","domain"),
	CONSTRAINT "rule_overlaps_winner" CHECK ("rule_overlaps"."winner" in ('narrow', 'broad')),
	CONSTRAINT "rule_overlaps_two" CHECK ("rule_overlaps"."narrow_rule_id" <> "rule_overlaps"."broad_rule_id")
);
--> statement-breakpoint
ALTER TABLE "rule_intersections" ADD CONSTRAINT "rule_intersections_rule_id_acl_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_intersections" ADD CONSTRAINT "rule_intersections_other_id_acl_rules_id_fk" FOREIGN KEY ("other_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_overlaps" ADD CONSTRAINT "rule_overlaps_narrow_rule_id_acl_rules_id_fk" FOREIGN KEY ("narrow_rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_overlaps" ADD CONSTRAINT "rule_overlaps_broad_rule_id_acl_rules_id_fk" FOREIGN KEY ("broad_rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "rule_intersections_other" ON "rule_intersections" USING btree ("other_id");--> statement-breakpoint
CREATE INDEX "rule_overlaps_broad" ON "rule_overlaps" USING btree ("broad_rule_id");--> statement-breakpoint
-- Overlaps of before: not decided yet, which is as if the narrower rule had won. Its buyers reach it from now on.
WITH listed AS MATERIALIZED (SELECT id, unnest(domains) AS domain FROM acl_rules WHERE deleted_at IS NULL)
INSERT INTO rule_overlaps (narrow_rule_id, broad_rule_id, domain)
SELECT DISTINCT n.id, b.id, n.domain
FROM listed n
CROSS JOIN LATERAL string_to_array(n.domain, '.') AS label
CROSS JOIN LATERAL generate_series(2, cardinality(label)) AS nth
JOIN listed b ON b.domain = array_to_string(label[nth:], '.') AND b.id <> n.id;--> statement-breakpoint
-- Rules that list the same domain: from now on no address is leased under two of them.
WITH listed AS MATERIALIZED (SELECT id, unnest(domains) AS domain FROM acl_rules WHERE deleted_at IS NULL)
INSERT INTO rule_intersections (rule_id, other_id)
SELECT DISTINCT a.id, b.id FROM listed a JOIN listed b ON b.domain = a.domain AND b.id <> a.id;--> statement-breakpoint
-- Agents get other deny lists; the next sweep finds the users behind.
UPDATE agent_users SET generation = nextval('agent_generation'), refusal = NULL
WHERE wanted AND EXISTS (SELECT 1 FROM rule_overlaps);--> statement-breakpoint

-- These rules and those that have a site in common with one of them, ascending: an address is free for the rules where
-- it is leased under none of all these. Read after the inventory's lock is held, or in the snapshot of a quote.
CREATE FUNCTION inventory.intersecting(p_rules int[]) RETURNS int[]
LANGUAGE sql STABLE AS $$
  SELECT ARRAY(
    SELECT unnest(p_rules) UNION SELECT other_id FROM public.rule_intersections WHERE rule_id = ANY (p_rules) ORDER BY 1)
$$;--> statement-breakpoint
-- The functions below are those of 0001_inventory.sql but for one thing: what is looked for has to be free under
-- `taken`, the rules and all that intersect them; what is leased are the rules alone.
-- Addresses in aligned blocks that are free for all the rules at once.
-- Generic plans throughout: planning anew would cost more than the query, as would compiling it.
CREATE OR REPLACE FUNCTION inventory.stock(p_group bigint, p_step int, p_rules int[]) RETURNS bigint
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  taken CONSTANT int[] := inventory.intersecting(p_rules);
  rules CONSTANT int := cardinality(taken);
BEGIN
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
    WHERE u.found = rules AND u.least > 0);
END $$;--> statement-breakpoint
-- ---------------------------------------------------------------- reserve and release
-- Fills a lease from one chunk that nobody else is filling, the lowest that holds it all. The hint lock is only ever
-- tried, so no one waits for it: buyers of one group spread over its chunks instead of queueing for the lowest.
-- False: no such chunk, or someone was faster.
CREATE OR REPLACE FUNCTION inventory.fill_one_chunk(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[]
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
      SELECT c.id, c.size FROM inventory.open_chunks(p_group, p_step, p_rules) c
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
CREATE OR REPLACE FUNCTION inventory.fill_upwards(
  p_lease bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_avoid int[]
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
      FROM inventory.open_chunks(p_group, p_step, p_rules) c
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
CREATE OR REPLACE FUNCTION inventory.fill_least_known(
  p_lease bigint, p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int
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
    FROM inventory.open_chunks(p_group, p_step, p_rules) c
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
-- The same for each live rule: alone, or (where rules are selected already) together with those.
CREATE OR REPLACE FUNCTION inventory.stock_by_rule(p_group bigint, p_step int, p_selected int[])
RETURNS TABLE (rule_id int, stock bigint)
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  at CONSTANT int := inventory.step_index(p_step);
  selected CONSTANT int := cardinality(p_selected);
  taken CONSTANT int[] := inventory.intersecting(p_selected);
  places CONSTANT int[] := ARRAY(SELECT c.id FROM inventory.open_chunks(p_group, p_step, p_selected) c);
BEGIN
  IF selected = 0 THEN
    RETURN QUERY
    SELECT r.id, CASE WHEN i.rule_id IS NULL THEN coalesce(f.blocks, 0) * p_step
      ELSE inventory.stock(p_group, p_step, ARRAY[r.id]) END
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
      ELSE inventory.stock(p_group, p_step, ARRAY(SELECT unnest(p_selected || r.id) ORDER BY 1)) END
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
-- Sets the bits of new blocks, only where they are clear, and where those of rules that intersect are clear as well. The rows are locked in the order of (chunk, rule), as
-- everywhere, so that two statements never wait for each other crosswise.
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
    -- `mask` is to be set, `kept` has to stay clear of others.
    SELECT chunk_id, rule_id, bit_or(mask) AS mask, sum(units) AS units, bit_or(kept) AS kept
    FROM touched GROUP BY 1, 2
  ), locked AS MATERIALIZED (
    SELECT p.*, u.bits FROM place p JOIN rule_usage u USING (chunk_id, rule_id)
    ORDER BY p.chunk_id, p.rule_id FOR NO KEY UPDATE OF u
  ), clash AS MATERIALIZED (
    -- With what is leased under the other rule, or with another block of this very statement.
    SELECT 1 FROM locked
    WHERE bit_count(bits & kept) > 0 OR bit_count(mask & kept) > 0
  ), occupied AS (
    UPDATE rule_usage u SET bits = u.bits | l.mask FROM locked l
    -- The last condition finds blocks of this very statement that overlap.
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
