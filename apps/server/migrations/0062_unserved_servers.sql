ALTER TABLE "servers" DROP CONSTRAINT "servers_trouble";--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "unserved_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_trouble" CHECK ("servers"."trouble" in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing', 'foreign_console', 'older_console', 'not_served', 'other_port') and ("servers"."trouble" is null) = ("servers"."trouble_params" is null));
