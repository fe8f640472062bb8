-- A row says itself when it was made. Each default is dropped from the catalogue alone: a table is locked for a moment, and no row
-- is read or written.
ALTER TABLE "api_keys" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "captchas" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "email_codes" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "login_failures" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "logins" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "oauth_states" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "sessions" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "sessions" ALTER COLUMN "last_seen_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "users" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "bulk_runs" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "catalog_sync_runs" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "catalog_syncs" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "collections" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "price_drifts" ALTER COLUMN "since" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "products" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "tags" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "variants" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "chat_bot" ALTER COLUMN "since" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "chat_told" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "platform_events" ALTER COLUMN "received_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "webhook_addresses" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "outage_credits" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "proxies" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "proxies" ALTER COLUMN "updated_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "access_proofs" ALTER COLUMN "asked_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "console_identity" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "server_groups" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "server_outages" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "servers" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "upgrades" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "acl_groups" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "acl_rules" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "cidrs" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "lease_blocks" ALTER COLUMN "leased_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "leases" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "platform_deletions" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "mail_contents" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "mails" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "mail_report_tokens" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "notice_channels" ALTER COLUMN "digest_until" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "notice_channels" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "notice_rules" ALTER COLUMN "updated_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "notice_sends" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "notices" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "checkout_keys" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "order_events" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "orders" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "payment_refunds" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "payments" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "chat_events" ALTER COLUMN "received_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "coupons" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "gift_cards" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "level_decays" ALTER COLUMN "started_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "point_records" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "log_lines" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "settings" ALTER COLUMN "updated_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "incident_updates" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "incidents" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "status_subscribers" ALTER COLUMN "asked_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "faqs" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "tickets" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "webhook_events" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "audit_log" ALTER COLUMN "at" DROP DEFAULT;--> statement-breakpoint

-- As before, but that they say when they lease: by the database's clock, so that leases of several processes follow each other.
CREATE OR REPLACE FUNCTION inventory.fill_one_chunk(
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
  INSERT INTO lease_blocks (lease_id, chunk_id, start, length, rules, leased_at)
  SELECT p_lease, chosen, start * unit, p_step, p_rules, clock_timestamp() FROM unnest(starts) AS start;
  RETURN true;
END $$;--> statement-breakpoint

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
    SELECT p_lease, chunk_id, start, p_step, p_rules, clock_timestamp() FROM place ORDER BY chunk_id, start LIMIT needed;
    GET DIAGNOSTICS got = ROW_COUNT;
    needed := needed - got;
    IF needed = 0 THEN RETURN true; END IF;
    beyond := chosen[cardinality(chosen)];
  END LOOP;
END $$;--> statement-breakpoint

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
  SELECT p_lease, chunk_id, start, p_step, p_rules, clock_timestamp() FROM (
    SELECT p.chunk_id, p.start FROM place p
    LEFT JOIN held h ON h.chunk_id = p.chunk_id AND h.start < p.start + p_step AND p.start < h.start + h.length
    GROUP BY p.chunk_id, p.start
    ORDER BY coalesce(max(h.lease_id), 0), p.chunk_id, p.start LIMIT p_blocks
  ) chosen ORDER BY chunk_id, start;
  GET DIAGNOSTICS got = ROW_COUNT;
  RETURN got = p_blocks;
END $$;--> statement-breakpoint

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
    -- A block given back below where a try was looking makes it fail for no reason: once more if there is stock.
    CONTINUE WHEN try = 3 AND (p_other OR inventory.stock(p_group, p_step, p_rules, '{}', p_family) < p_blocks::bigint * p_step);
    -- An order that wants other addresses takes other chunks while they last, and then other blocks.
    CONTINUE WHEN try = 4 AND (NOT p_other OR cardinality(p_avoid) > 0);
    BEGIN
      INSERT INTO leases (order_id, group_id, step, rules, blocks, created_at)
      VALUES (p_order, p_group, p_step, p_rules, p_blocks, clock_timestamp()) RETURNING id INTO lease;
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

-- As before, but for the time, which the command gives.
DROP FUNCTION inventory.add_cidr(cidr, bigint, int[]);--> statement-breakpoint
CREATE FUNCTION inventory.add_cidr(p_range cidr, p_server bigint, p_excluded int[], p_at timestamptz) RETURNS bigint
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
