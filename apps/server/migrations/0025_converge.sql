ALTER TABLE "servers" DROP CONSTRAINT "servers_trouble";--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "failed_tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "next_try_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "refused_ranges" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_trouble" CHECK ("servers"."trouble" in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing') and ("servers"."trouble" is null) = ("servers"."trouble_params" is null));--> statement-breakpoint

-- Servers whose ranges a group sells, and those of their ranges that it does not: their agents refused them.
CREATE OR REPLACE VIEW inventory.sellers AS
  SELECT m.group_id, m.server_id, s.refused_ranges::inet[] AS refused_ranges
  FROM server_group_servers m
  JOIN server_groups g ON g.id = m.group_id AND g.deleted_at IS NULL
  JOIN servers s ON s.id = m.server_id AND s.deleted_at IS NULL AND s.status = 'active' AND NOT s.offline;--> statement-breakpoint

CREATE OR REPLACE FUNCTION inventory.open_chunks(p_group bigint, p_step int, p_rules int[]) RETURNS TABLE (id int, size int)
LANGUAGE sql STABLE AS $$
  SELECT c.id, c.size
  FROM inventory.sellers s
  CROSS JOIN LATERAL (
    SELECT c.id, c.size FROM chunks c
    WHERE c.server_id = s.server_id AND NOT c.excluded_rules && p_rules AND c.size >= p_step
      AND NOT c.base <<= ANY (s.refused_ranges) OFFSET 0
  ) c
  WHERE s.group_id = p_group
$$;
