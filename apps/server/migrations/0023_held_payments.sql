ALTER TABLE "order_events" DROP CONSTRAINT "order_events_kind";--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "used_by" text;--> statement-breakpoint
CREATE INDEX "coupons_used_by" ON "coupons" USING btree ("used_by") WHERE "coupons"."used_by" is not null;--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_kind" CHECK ("order_events"."kind" in ('placed', 'pay', 'time_out', 'cancel', 'fail', 'start_delivery', 'deliver_part', 'deliver_all', 'expire', 'revive', 'reopen', 'refund', 'restore', 'await_payment', 'leased', 'reservation_ended', 'paid_again', 'payment_held', 'payment_applied', 'payment_ignored', 'payment_refunded', 'payment_restored', 'refund_requested', 'renewed', 'grace_ended', 'partly_refunded', 'moved', 'credited', 'expiry_set', 'task_requested', 'task_begun', 'task_done', 'task_failed', 'deleted'));--> statement-breakpoint
-- What was taken of coins that were pending is told apart by the payment that they were earned by.
UPDATE "point_records" AS "taken" SET "payment" = "earned"."payment"
  FROM "point_records" AS "earned"
  WHERE "taken"."payment" IS NULL AND "taken"."cause" = 'refund:' || "earned"."id" || ':pending';
