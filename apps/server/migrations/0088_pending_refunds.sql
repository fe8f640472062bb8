ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "read_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'refunded', 'not_paid', 'ignored', 'unreadable', 'inquiry', 'refund_doubtful', 'refund_stuck', 'unknown_order', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'cancelled', 'too_late', 'paid_twice', 'partly_refunded', 'cancelled_delivered', 'renewals_unserved', 'dispute_won', 'refund_failed', 'applied', 'withdrawn', 'not_sold'));--> statement-breakpoint
UPDATE "payment_refunds" SET "awaits_decision" = true WHERE "state" = 'answered';
