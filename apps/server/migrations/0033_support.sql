ALTER TABLE "mails" DROP CONSTRAINT "mails_kind";--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "state" text DEFAULT 'open' NOT NULL;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "answer" text;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "answered_by" bigint;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "answered_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "tickets_state" ON "tickets" USING btree ("state","id");--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree (lower("actor_name"),"id");--> statement-breakpoint
CREATE INDEX "audit_log_verb" ON "audit_log" USING btree (split_part("action", '.', 2),"id");--> statement-breakpoint
CREATE INDEX "audit_log_type" ON "audit_log" USING btree ("target_type","id");--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('security', 'payments', 'proxies', 'expiry', 'operator', 'support'));--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_state" CHECK ("tickets"."state" in ('open', 'answered', 'closed'));--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_language" CHECK ("tickets"."language" in ('en', 'zh-CN'));