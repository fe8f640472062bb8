ALTER TABLE "lease_blocks" ALTER COLUMN "leased_at" SET DEFAULT clock_timestamp();--> statement-breakpoint

-- The instants of the lease history are those of the clock: `now()` is the beginning of a transaction, which may have waited
-- since for the one that gave the addresses back, and would have leased them before that.
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
  at := clock_timestamp();
  UPDATE leases SET state = 'released', released_at = at WHERE id = ANY (released);
  UPDATE lease_blocks b SET released_at = at,
    rests_until = CASE WHEN l.activated_at IS NOT NULL AND rest > interval '0' THEN at + rest END
  FROM leases l
  WHERE l.id = b.lease_id AND b.lease_id = ANY (released) AND b.released_at IS NULL;
  RETURN released;
END $$;--> statement-breakpoint

-- As before, but for the instant: what is leased and activated at once is not active before it is leased.
CREATE OR REPLACE FUNCTION inventory.activate(p_order bigint) RETURNS bigint
LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  activated bigint[];
  addresses bigint;
BEGIN
  PERFORM inventory.share();
  WITH reserved AS (
    UPDATE leases SET state = 'active', activated_at = clock_timestamp()
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
