ALTER TABLE "orders" ADD COLUMN "rescue_tried_at" timestamp with time zone;--> statement-breakpoint

-- A block never changes but for its lease being split, its one release, and the end of its rest. Its bits are cleared
-- when it is released and does not rest. A rule that was deleted meanwhile has none.
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
END $$;--> statement-breakpoint

-- Bits are deleted with their rule only, and never those of a live block.
CREATE FUNCTION inventory.keep_used() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM acl_rules WHERE id = OLD.rule_id AND deleted_at IS NULL) OR EXISTS (
    SELECT 1 FROM lease_blocks
    WHERE chunk_id = OLD.chunk_id AND released_at IS NULL AND rules @> ARRAY[OLD.rule_id]
  ) THEN
    RAISE EXCEPTION 'addresses are leased under this rule' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;--> statement-breakpoint
DROP TRIGGER keep_used ON rule_usage;--> statement-breakpoint
CREATE TRIGGER keep_used BEFORE DELETE ON rule_usage FOR EACH ROW WHEN (bit_count(OLD.bits) > 0)
  EXECUTE FUNCTION inventory.keep_used();--> statement-breakpoint

-- What rests under a rule was given back: it is not leased. Under the other rules of its order it rests on, and its rest
-- ends with the last of them.
CREATE OR REPLACE FUNCTION inventory.close_rule(p_rule int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM inventory.own();
  UPDATE acl_rules SET deleted_at = now() WHERE id = p_rule AND deleted_at IS NULL;
  DELETE FROM rule_usage WHERE rule_id = p_rule;
  DELETE FROM acl_group_rules WHERE rule_id = p_rule;
  UPDATE lease_blocks b SET rests_until = NULL
  WHERE b.rests_until IS NOT NULL AND b.rules @> ARRAY[p_rule]
    AND NOT EXISTS (SELECT 1 FROM acl_rules r WHERE r.id = ANY (b.rules) AND r.deleted_at IS NULL);
END $$;
