ALTER TABLE "users" ADD COLUMN "coin_millionths" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- What was earned until now was whole coins.
UPDATE "point_records" SET "nominal" = coalesce("nominal", "point") * 1000000, "taken_back" = "taken_back" * 1000000
WHERE "reason_code" = 'invited_payment';--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_coin_millionths" CHECK ("users"."coin_millionths" between 0 and 999999);--> statement-breakpoint
ALTER TABLE "point_records" ADD CONSTRAINT "point_records_millionths" CHECK ("point_records"."reason_code" <> 'invited_payment' or "point_records"."nominal" is not null);
