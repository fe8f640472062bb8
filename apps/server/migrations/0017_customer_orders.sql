CREATE TABLE "mail_choices" (
	"address" text PRIMARY KEY NOT NULL,
	"off" text[] NOT NULL,
	CONSTRAINT "mail_choices_off" CHECK ("mail_choices"."off" <@ array['payments', 'proxies', 'expiry']::text[])
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mails_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"key" text NOT NULL,
	"to" text NOT NULL,
	"template" text NOT NULL,
	"kind" text NOT NULL,
	"language" text NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"error" text,
	"provider_id" text,
	"job_id" text NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL,
	"tries" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	CONSTRAINT "mails_key" UNIQUE("key"),
	CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('security', 'payments', 'proxies', 'expiry', 'operator')),
	CONSTRAINT "mails_language" CHECK ("mails"."language" in ('en', 'zh-CN')),
	CONSTRAINT "mails_state" CHECK ("mails"."state" in ('waiting', 'sent', 'failed', 'skipped'))
);
--> statement-breakpoint
CREATE TABLE "checkout_keys" (
	"user_id" bigint NOT NULL,
	"key" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"reply" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "checkout_keys_user_id_key_pk" PRIMARY KEY("user_id","key")
);
--> statement-breakpoint
DROP INDEX "orders_expiry";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "extra_terms" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "checkout_keys" ADD CONSTRAINT "checkout_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mails_search" ON "mails" USING gin ("to" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "mails_created" ON "mails" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "mails_state" ON "mails" USING btree ("state","id");--> statement-breakpoint
CREATE INDEX "checkout_keys_age" ON "checkout_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "orders_expiry" ON "orders" USING btree ("expired_at") WHERE "orders"."state" in ('delivered', 'failed');--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_extra_terms" CHECK ("orders"."extra_terms" >= 0);--> statement-breakpoint
-- Until now an order's term began with its payment.
UPDATE "orders" SET "delivered_at" = "paid_at" WHERE "state" = 'delivered' OR ("state" = 'expired' AND "delivery_num" > 0);--> statement-breakpoint
-- From now on it begins with the delivery: orders under way have no end yet, and keep the terms that were renewed.
UPDATE "orders" SET "expired_at" = NULL, "extra_terms" = (
    SELECT count(*) FROM "order_events" WHERE "order_events"."order_id" = "orders"."id" AND "order_events"."kind" = 'renewed'
  ) WHERE "state" IN ('paid', 'failed', 'delivering', 'partly_delivered');--> statement-breakpoint
-- Who was reminded once, three days before the end, is not reminded again on a last day that has begun already.
UPDATE "orders" SET "last_reminder_sent_at" = "reminder_sent_at"
  WHERE "state" = 'delivered' AND "reminder_sent_at" IS NOT NULL AND "expired_at" < now() + interval '1 day';
