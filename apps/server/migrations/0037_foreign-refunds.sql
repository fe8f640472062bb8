ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_fail_code";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_task_error";--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "waits_for" text;--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "foreign_amount" text;--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "awaits_decision" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refund_id" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refund_unanswered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "platform_events_outcome" ON "platform_events" USING btree ("outcome","id") WHERE "platform_events"."topic" not like 'products/%';--> statement-breakpoint
CREATE INDEX "mails_about" ON "mails" USING btree (split_part("key", ':', 2),split_part("key", ':', 1));--> statement-breakpoint
CREATE INDEX "mails_about_outage" ON "mails" USING btree (split_part("key", ':', 3)) WHERE split_part("mails"."key", ':', 1) in ('outage', 'credited');--> statement-breakpoint
CREATE INDEX "payment_refunds_unread" ON "payment_refunds" USING btree ("id") WHERE "payment_refunds"."foreign_amount" is not null or "payment_refunds"."awaits_decision";--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'refund_amount_unknown', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_lines_missing', 'renewal_not_sold', 'refunded', 'renewals_unserved', 'partly_refunded', 'foreign_refund', 'refund_kept', 'inquiry', 'dispute_won', 'restored', 'unreadable', 'underpaid', 'renewal_underpaid', 'ignored', 'applied', 'withdrawn', 'not_sold', 'older'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_fail_code" CHECK ("orders"."fail_code" in ('out_of_stock', 'underpaid', 'agent_refused', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'refund_amount_unknown', 'server_unreachable', 'addresses_lost'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_task_error" CHECK ("orders"."task_error_code" in ('out_of_stock', 'agent_refused', 'refund_amount_unknown'));