CREATE TABLE "mail_blocks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mail_blocks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"address" text NOT NULL,
	"cause" text NOT NULL,
	"reason" text NOT NULL,
	"source" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"active" boolean NOT NULL,
	"lifted_at" timestamp with time zone,
	CONSTRAINT "mail_blocks_address" UNIQUE("address"),
	CONSTRAINT "mail_blocks_cause" CHECK ("mail_blocks"."cause" in ('bounced', 'complained')),
	CONSTRAINT "mail_blocks_source" CHECK ("mail_blocks"."source" in ('sendgrid', 'mailgun', 'smtp')),
	CONSTRAINT "mail_blocks_lifted" CHECK ("mail_blocks"."active" or "mail_blocks"."lifted_at" is not null)
);
--> statement-breakpoint
ALTER TABLE "mails" DROP CONSTRAINT "mails_state";--> statement-breakpoint
ALTER TABLE "mails" DROP CONSTRAINT "mails_error_code";--> statement-breakpoint
CREATE INDEX "mail_blocks_search" ON "mail_blocks" USING gin ("address" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "mail_blocks_active" ON "mail_blocks" USING btree ("id") WHERE "mail_blocks"."active";--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_state" CHECK ("mails"."state" in ('waiting', 'sent', 'bounced', 'failed', 'skipped'));--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_error_code" CHECK ("mails"."error_code" in ('code_expired', 'no_such_address', 'switched_off', 'not_configured', 'unauthorized', 'rejected', 'throttled', 'timeout', 'network', 'server_error', 'bounced', 'complained'));