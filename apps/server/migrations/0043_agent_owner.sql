CREATE TABLE "agent_ties" (
	"server_id" bigint PRIMARY KEY NOT NULL,
	"mark" text,
	"next_mark" text,
	"plan" jsonb,
	"approved" text
);
--> statement-breakpoint
CREATE TABLE "console_identity" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"console_id" text DEFAULT gen_random_uuid()::text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "console_identity_single" CHECK ("console_identity"."single")
);
--> statement-breakpoint
ALTER TABLE "servers" DROP CONSTRAINT "servers_trouble";--> statement-breakpoint
ALTER TABLE "agent_ties" ADD CONSTRAINT "agent_ties_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_trouble" CHECK ("servers"."trouble" in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing', 'foreign_console', 'older_console') and ("servers"."trouble" is null) = ("servers"."trouble_params" is null));