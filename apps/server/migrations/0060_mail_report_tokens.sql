CREATE TABLE "mail_report_tokens" (
	"token" "bytea" PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "mail_report_tokens_created" ON "mail_report_tokens" USING btree ("created_at");--> statement-breakpoint
ALTER TABLE "notice_sends" ADD COLUMN "with_id" bigint;--> statement-breakpoint
ALTER TABLE "notice_sends" ADD CONSTRAINT "notice_sends_with_id_notice_sends_id_fk" FOREIGN KEY ("with_id") REFERENCES "public"."notice_sends"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notice_sends_with" ON "notice_sends" USING btree ("with_id") WHERE "notice_sends"."with_id" is not null;--> statement-breakpoint
ALTER TABLE "notice_channels" DROP CONSTRAINT "notice_channels_failure";--> statement-breakpoint
ALTER TABLE "notice_channels" ADD CONSTRAINT "notice_channels_failure" CHECK ("notice_channels"."failure" in ('status', 'no_chat', 'no_recipient', 'blocked_recipients', 'unreadable_target', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off'));--> statement-breakpoint
ALTER TABLE "notice_sends" DROP CONSTRAINT "notice_sends_failure";--> statement-breakpoint
ALTER TABLE "notice_sends" ADD CONSTRAINT "notice_sends_failure" CHECK ("notice_sends"."failure" in ('status', 'no_chat', 'no_recipient', 'blocked_recipients', 'unreadable_target', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off'));
