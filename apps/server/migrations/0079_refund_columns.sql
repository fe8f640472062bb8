ALTER TABLE "payments" DROP COLUMN "refund_requested_at";--> statement-breakpoint
ALTER TABLE "payments" DROP COLUMN "refund_requested_by";--> statement-breakpoint
ALTER TABLE "payments" DROP COLUMN "refund_id";--> statement-breakpoint
ALTER TABLE "payments" DROP COLUMN "refund_unanswered";