ALTER TABLE "payment_refunds" ADD COLUMN "input" jsonb;--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "sent_at" timestamp with time zone;--> statement-breakpoint
UPDATE "payment_refunds" SET "sent_at" = "created_at" WHERE "state" IN ('asked', 'unanswered');
