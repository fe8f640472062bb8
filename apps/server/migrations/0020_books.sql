ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "order_events" DROP CONSTRAINT "order_events_kind";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "reversed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "term_taken" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "reported_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'lines_missing', 'wrong_currency', 'test_payment', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_lines_missing', 'refunded', 'renewals_unserved', 'partly_refunded', 'refund_kept', 'inquiry', 'dispute_won', 'restored', 'unreadable', 'underpaid', 'renewal_underpaid', 'ignored', 'applied', 'withdrawn', 'not_sold', 'older'));--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_kind" CHECK ("order_events"."kind" in ('placed', 'pay', 'time_out', 'cancel', 'fail', 'start_delivery', 'deliver_part', 'deliver_all', 'expire', 'revive', 'reopen', 'refund', 'restore', 'leased', 'reservation_ended', 'paid_again', 'payment_held', 'payment_applied', 'payment_ignored', 'payment_refunded', 'payment_restored', 'refund_requested', 'renewed', 'grace_ended', 'partly_refunded', 'moved', 'credited', 'expiry_set', 'task_requested', 'task_begun', 'task_done', 'task_failed', 'deleted'));--> statement-breakpoint
UPDATE "orders" o SET "ended_at" = e."at" FROM (
  SELECT "order_id", max("at") AS "at" FROM "order_events" WHERE "kind" IN ('expire', 'refund') GROUP BY "order_id"
) e WHERE e."order_id" = o."id" AND o."state" IN ('expired', 'refunded');
