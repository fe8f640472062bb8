ALTER TABLE "orders" ADD COLUMN "pending_until" timestamp with time zone;--> statement-breakpoint
UPDATE "orders" SET "pending_until" = "reserved_until" WHERE "state" = 'placed' AND "reserved_until" > "created_at" + interval '30 minutes';
