ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_extra_terms";--> statement-breakpoint
ALTER TABLE "orders" RENAME COLUMN "extra_terms" TO "extra_days";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "days" integer;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refund_requested_by" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'lines_missing', 'wrong_currency', 'test_payment', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_lines_missing', 'renewal_not_sold', 'refunded', 'renewals_unserved', 'partly_refunded', 'refund_kept', 'inquiry', 'dispute_won', 'restored', 'unreadable', 'underpaid', 'renewal_underpaid', 'ignored', 'applied', 'withdrawn', 'not_sold', 'older'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_extra_days" CHECK ("orders"."extra_days" >= 0);--> statement-breakpoint
-- Renewals gave the term of their order until now.
UPDATE "orders" SET "extra_days" = "extra_days" * "proxy_time" WHERE "extra_days" > 0;--> statement-breakpoint
UPDATE "payments" p SET "days" = o."proxy_time" FROM "orders" o WHERE o."id" = p."order_id" AND p."accepted";
