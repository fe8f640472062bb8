ALTER TABLE "servers" DROP CONSTRAINT "servers_trouble";--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "failed_tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "next_try_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_trouble" CHECK ("servers"."trouble" in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing') and ("servers"."trouble" is null) = ("servers"."trouble_params" is null));