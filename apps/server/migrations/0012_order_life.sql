ALTER TABLE "order_events" DROP CONSTRAINT "order_events_kind";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_state";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_fail_code";--> statement-breakpoint
DROP INDEX "orders_undelivered";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "last_reminder_sent_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "delivered_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "grace_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "refunded_amount" numeric(14, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
CREATE INDEX "orders_grace" ON "orders" USING btree ("grace_until") WHERE "orders"."grace_until" is not null;--> statement-breakpoint
CREATE INDEX "orders_undelivered" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null and "orders"."paid_at" is not null and "orders"."delivery_num" = 0 and "orders"."state" not in ('expired', 'refunded');--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_language" CHECK ("users"."language" in ('en', 'zh-CN'));--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_kind" CHECK ("order_events"."kind" in ('placed', 'pay', 'time_out', 'cancel', 'fail', 'start_delivery', 'deliver_part', 'deliver_all', 'expire', 'revive', 'reopen', 'refund', 'leased', 'reservation_ended', 'paid_again', 'renewed', 'grace_ended', 'partly_refunded', 'moved', 'credited', 'expiry_set', 'task_requested', 'task_begun', 'task_done', 'task_failed', 'deleted'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_state" CHECK ("orders"."state" in ('placed', 'timed_out', 'cancelled', 'paid', 'delivering', 'partly_delivered', 'delivered', 'expired', 'failed', 'refunded'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_fail_code" CHECK ("orders"."fail_code" in ('out_of_stock', 'underpaid', 'agent_refused', 'lines_missing', 'wrong_currency', 'test_payment', 'server_unreachable', 'addresses_lost'));