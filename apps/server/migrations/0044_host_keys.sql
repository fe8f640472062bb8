ALTER TABLE "servers" ADD COLUMN "ssh_host_key_refused" text;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "ssh_fingerprint" text;