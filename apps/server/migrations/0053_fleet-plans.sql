ALTER TABLE "servers" ADD COLUMN "agent_service" text;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "console_address" "inet";