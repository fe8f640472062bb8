CREATE TABLE "outage_credits" (
	"outage_id" bigint NOT NULL,
	"order_id" bigint NOT NULL,
	"seconds" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outage_credits_outage_id_order_id_pk" PRIMARY KEY("outage_id","order_id")
);
--> statement-breakpoint
CREATE TABLE "server_outages" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "server_outages_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"server_id" bigint NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"by_hand" boolean DEFAULT false NOT NULL,
	"announced_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "server_outages_times" CHECK ("server_outages"."ended_at" > "server_outages"."started_at")
);
--> statement-breakpoint
ALTER TABLE "bulk_runs" ADD COLUMN "input" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "proxies" ADD COLUMN "live_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "status" text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "offline" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "lease_blocks" ADD COLUMN "rests_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "leases" ADD COLUMN "replaced" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "outage_credits" ADD CONSTRAINT "outage_credits_outage_id_server_outages_id_fk" FOREIGN KEY ("outage_id") REFERENCES "public"."server_outages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outage_credits" ADD CONSTRAINT "outage_credits_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_outages" ADD CONSTRAINT "server_outages_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "outage_credits_order" ON "outage_credits" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "server_outages_server" ON "server_outages" USING btree ("server_id","started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "server_outages_open_key" ON "server_outages" USING btree ("server_id") WHERE "server_outages"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "proxies_pending" ON "proxies" USING btree ("server_id","order_id") WHERE "proxies"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "lease_blocks_resting" ON "lease_blocks" USING btree ("rests_until") WHERE "lease_blocks"."rests_until" is not null;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_status" CHECK ("servers"."status" in ('active', 'paused', 'draining', 'given_up', 'returning'));--> statement-breakpoint
ALTER TABLE "lease_blocks" ADD CONSTRAINT "lease_blocks_rests" CHECK ("lease_blocks"."rests_until" is null or "lease_blocks"."released_at" is not null);--> statement-breakpoint
-- What was live before is taken to have been so from the start; what is being changed has a newer lease beside it.
UPDATE proxies SET live_at = created_at WHERE state = 'live';--> statement-breakpoint
UPDATE leases l SET replaced = true WHERE l.state <> 'released'
  AND EXISTS (SELECT 1 FROM leases n WHERE n.order_id = l.order_id AND n.state <> 'released' AND n.id > l.id);--> statement-breakpoint

-- Servers whose ranges a group sells: neither removed, nor paused by an operator, nor silent for too long.
CREATE OR REPLACE VIEW inventory.sellers AS
  SELECT m.group_id, m.server_id
  FROM server_group_servers m
  JOIN server_groups g ON g.id = m.group_id AND g.deleted_at IS NULL
  JOIN servers s ON s.id = m.server_id AND s.deleted_at IS NULL AND s.status = 'active' AND NOT s.offline;--> statement-breakpoint

-- A block never changes but for its lease being split, its one release, and the end of its rest. Its bits are cleared
-- when it is released and does not rest.
CREATE OR REPLACE FUNCTION inventory.vacate() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wanted bigint;
  done bigint;
BEGIN
  PERFORM inventory.share();
  -- A full join, so that a changed id does not slip through.
  IF EXISTS (
    SELECT 1 FROM after a FULL JOIN before b USING (id)
    WHERE (a.chunk_id, a.start, a.length, a.rules, a.leased_at)
        IS DISTINCT FROM (b.chunk_id, b.start, b.length, b.rules, b.leased_at)
      OR (b.released_at IS NOT NULL AND a.released_at IS DISTINCT FROM b.released_at)
      -- Its rest begins with its release and ends once, never to begin again.
      OR (a.rests_until IS NOT NULL AND a.rests_until IS DISTINCT FROM b.rests_until AND b.released_at IS NOT NULL)
      -- A part of a lease becomes a lease of its own: of the same order, with the same rules.
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
      WHERE (b.released_at IS NULL OR b.rests_until IS NOT NULL) AND a.released_at IS NOT NULL AND a.rests_until IS NULL),
    (SELECT coalesce(sum(units), 0) FROM vacated)
  INTO wanted, done;
  IF done <> wanted THEN
    RAISE EXCEPTION 'the usage of a rule does not match its leases; run the inventory audit'
      USING ERRCODE = 'data_corrupted';
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION inventory.keep_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM public.lease_blocks WHERE lease_id = OLD.id) THEN
      RAISE EXCEPTION 'lease % has a history', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  END IF;
  -- Its blocks become fewer where a part of it becomes a lease of its own (inventory.split); the audit counts them.
  IF (NEW.id, NEW.order_id, NEW.group_id, NEW.step, NEW.rules, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.group_id, OLD.step, OLD.rules, OLD.created_at)
    OR NEW.blocks > OLD.blocks OR OLD.state = 'released' OR (OLD.state = 'active' AND NEW.state = 'reserved') THEN
    RAISE EXCEPTION 'lease % is % and does not change so', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;--> statement-breakpoint

DROP TRIGGER keep_live ON lease_blocks;--> statement-breakpoint
CREATE TRIGGER keep_live BEFORE DELETE ON lease_blocks FOR EACH ROW
  WHEN (OLD.released_at IS NULL OR OLD.rests_until IS NOT NULL)
  EXECUTE FUNCTION inventory.refuse('release a lease block before deleting it');--> statement-breakpoint

-- Makes what a lease holds on one server a lease of its own, so that it can be replaced while the rest stays. Returns
-- that lease: the same one where it holds nothing elsewhere, null where it holds nothing there.
CREATE FUNCTION inventory.split(p_lease bigint, p_server bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  part bigint[];
  held int;
  made bigint;
BEGIN
  PERFORM inventory.share();
  SELECT blocks INTO held FROM leases WHERE id = p_lease AND state <> 'released' FOR UPDATE;
  SELECT array_agg(b.id) INTO part
  FROM lease_blocks b JOIN chunks c ON c.id = b.chunk_id
  WHERE b.lease_id = p_lease AND b.released_at IS NULL AND c.server_id = p_server;
  IF held IS NULL OR part IS NULL THEN RETURN NULL; END IF;
  IF cardinality(part) = held THEN RETURN p_lease; END IF;
  INSERT INTO leases (order_id, group_id, step, rules, blocks, state, created_at, activated_at, replaced)
  SELECT order_id, group_id, step, rules, cardinality(part), state, created_at, activated_at, replaced
  FROM leases WHERE id = p_lease RETURNING id INTO made;
  UPDATE leases SET blocks = held - cardinality(part) WHERE id = p_lease;
  UPDATE lease_blocks SET lease_id = made WHERE id = ANY (part);
  RETURN made;
END $$;--> statement-breakpoint

DROP FUNCTION inventory.reserve(bigint, bigint, int, int[], int, boolean);--> statement-breakpoint
-- Reserves aligned blocks that are free for all the rules (distinct). Returns the lease, or null when the group has
-- too few: then nothing has changed, and the caller's transaction goes on. `p_other`: addresses that the order never
-- held, as far as there are any. `p_avoid`: servers that give none.
--
-- NL001 is raised and caught in here: it undoes a try and lets go of its locks, so that the next one may start low.
CREATE FUNCTION inventory.reserve(
  p_order bigint, p_group bigint, p_step int, p_rules int[], p_blocks int, p_other boolean DEFAULT false,
  p_avoid bigint[] DEFAULT '{}'
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
    CONTINUE WHEN try = 3 AND (p_other OR inventory.stock(p_group, p_step, p_rules) < p_blocks::bigint * p_step);
    -- An order that wants other addresses takes other chunks while they last, and then other blocks.
    CONTINUE WHEN try = 4 AND (NOT p_other OR cardinality(p_avoid) > 0);
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

-- Gives back what the leases, and the orders, still hold. Returns the leases that this call released. Addresses that
-- were in use rest before they return to stock: `quarantine_hours` of the settings.
CREATE OR REPLACE FUNCTION inventory.release(p_leases bigint[], p_orders bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  released bigint[];
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
  UPDATE leases SET state = 'released', released_at = now() WHERE id = ANY (released);
  UPDATE lease_blocks b SET released_at = now(),
    rests_until = CASE WHEN l.activated_at IS NOT NULL AND rest > interval '0' THEN now() + rest END
  FROM leases l
  WHERE l.id = b.lease_id AND b.lease_id = ANY (released) AND b.released_at IS NULL;
  RETURN released;
END $$;--> statement-breakpoint

-- Returns to stock what has rested long enough. Returns how many blocks; ask again while it is `p_most`.
CREATE FUNCTION inventory.end_rest(p_now timestamptz, p_most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ended int;
BEGIN
  PERFORM inventory.share();
  UPDATE lease_blocks SET rests_until = NULL WHERE id IN (
    SELECT id FROM lease_blocks WHERE rests_until <= p_now ORDER BY rests_until, id LIMIT p_most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END $$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION inventory.remove_cidr(p_cidr bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  -- What rests was given back: it is not leased.
  UPDATE lease_blocks SET rests_until = NULL
  WHERE rests_until IS NOT NULL AND chunk_id IN (SELECT id FROM chunks WHERE cidr_id = p_cidr);
  DELETE FROM rule_usage WHERE chunk_id IN (SELECT id FROM chunks WHERE cidr_id = p_cidr);
  IF EXISTS (SELECT 1 FROM chunks c JOIN lease_blocks b ON b.chunk_id = c.id WHERE c.cidr_id = p_cidr) THEN
    UPDATE cidrs SET server_id = NULL, deleted_at = now() WHERE id = p_cidr;
    UPDATE chunks SET server_id = NULL WHERE cidr_id = p_cidr;
  ELSE
    DELETE FROM chunks WHERE cidr_id = p_cidr;
    DELETE FROM cidrs WHERE id = p_cidr;
  END IF;
END $$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION inventory.close_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  -- What rests under it was given back: it is not leased.
  UPDATE lease_blocks SET rests_until = NULL WHERE rests_until IS NOT NULL AND rules @> ARRAY[p_rule];
  DELETE FROM rule_usage WHERE rule_id = p_rule;
  UPDATE acl_rules SET deleted_at = now() WHERE id = p_rule AND deleted_at IS NULL;
  DELETE FROM acl_group_rules WHERE rule_id = p_rule;
END $$;--> statement-breakpoint

CREATE OR REPLACE VIEW inventory.expected_usage AS
  SELECT c.id AS chunk_id, r.id AS rule_id, coalesce(l.bits, repeat('0', c.size)::varbit) AS bits
  FROM chunks c
  JOIN cidrs range ON range.id = c.cidr_id AND range.deleted_at IS NULL
  CROSS JOIN acl_rules r
  LEFT JOIN (
    SELECT b.chunk_id, rule_id,
      bit_or((substring(~B'0'::bit(4096) FROM 1 FOR c.size) << (c.size - b.length)) >> b.start) AS bits
    FROM lease_blocks b JOIN chunks c ON c.id = b.chunk_id, unnest(b.rules) AS rule_id
    WHERE b.released_at IS NULL OR b.rests_until IS NOT NULL GROUP BY 1, 2
  ) l ON l.chunk_id = c.id AND l.rule_id = r.id
  WHERE r.deleted_at IS NULL;--> statement-breakpoint

CREATE OR REPLACE FUNCTION inventory.double_leased() RETURNS bigint LANGUAGE sql STABLE SET jit = off AS $$
  SELECT coalesce(sum(held - distinct_units), 0)::bigint FROM (
    SELECT sum(b.length) AS held, (
      SELECT sum(upper(part) - lower(part)) FROM unnest(range_agg(int4range(b.start, b.start + b.length))) AS part
    ) AS distinct_units
    FROM lease_blocks b, unnest(b.rules) AS rule_id
    WHERE b.released_at IS NULL OR b.rests_until IS NOT NULL GROUP BY b.chunk_id, rule_id
  ) place
$$;
