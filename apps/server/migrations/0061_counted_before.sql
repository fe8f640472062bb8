ALTER TABLE "coupons" ADD COLUMN "counted_before" integer DEFAULT 0 NOT NULL;
