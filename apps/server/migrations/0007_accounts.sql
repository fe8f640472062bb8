ALTER TABLE "point_records" ADD COLUMN "reason_code" text;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "reason_params" jsonb;--> statement-breakpoint
-- The sentences that were stored become what they were made of.
UPDATE "point_records" SET
  "reason_code" = CASE
    WHEN "reason" LIKE 'Payment of order %' THEN 'payment'
    WHEN "reason" LIKE 'Payment by %' THEN 'invited_payment'
    WHEN "reason" LIKE 'Invited %' THEN 'invited'
    WHEN "reason" LIKE 'Exchanged for a $% gift card' THEN 'exchange'
    WHEN "reason" = 'Chat message' THEN 'chat_message'
    WHEN "reason" = 'Monthly decay' THEN 'decay'
    ELSE 'set_by_admin'
  END,
  "reason_params" = CASE
    WHEN "reason" LIKE 'Payment of order %' THEN jsonb_build_object('order', substring("reason" from '^Payment of order (.*)$'))
    WHEN "reason" LIKE 'Payment by %' THEN jsonb_build_object('username', substring("reason" from '^Payment by (.*), whom you invited$'))
    WHEN "reason" LIKE 'Invited %' THEN jsonb_build_object('username', substring("reason" from '^Invited (.*)$'))
    WHEN "reason" LIKE 'Exchanged for a $% gift card' THEN jsonb_build_object('mount', substring("reason" from '^Exchanged for a \$(.*) gift card$'))
  END;--> statement-breakpoint
ALTER TABLE "point_records" ALTER COLUMN "reason_code" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "point_records" ADD CONSTRAINT "point_records_reason" CHECK ("point_records"."reason_code" in ('payment', 'invited_payment', 'invited', 'exchange', 'chat_message', 'decay', 'set_by_admin'));--> statement-breakpoint
ALTER TABLE "point_records" DROP COLUMN "reason";
