ALTER TABLE "servers" ADD COLUMN "agent_settings" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "agent_settings_applied" jsonb;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "agent_local_names" text[];
