-- What the platform has under each code, whether a discount is an amount or percent, which products carry a tag, and what syncs changed.
ALTER TABLE "coupons" ADD COLUMN "discount_type" text DEFAULT 'amount' NOT NULL;--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "platform_state" text DEFAULT 'unknown' NOT NULL;--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "platform_differs" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "platform_problem" text;--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "platform_checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "coupons" ADD CONSTRAINT "coupons_discount_type" CHECK ("coupons"."discount_type" in ('amount', 'percent'));--> statement-breakpoint
ALTER TABLE "coupons" ADD CONSTRAINT "coupons_platform_state" CHECK ("coupons"."platform_state" in ('unknown', 'waiting', 'present', 'differs', 'missing', 'refused'));--> statement-breakpoint
CREATE INDEX "coupons_platform" ON "coupons" USING btree ("platform_state","id");--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "platform_state" text DEFAULT 'unknown' NOT NULL;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "platform_differs" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "platform_problem" text;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "platform_checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD CONSTRAINT "gift_cards_platform_state" CHECK ("gift_cards"."platform_state" in ('unknown', 'waiting', 'present', 'differs', 'missing', 'refused'));--> statement-breakpoint
CREATE INDEX "gift_cards_platform" ON "gift_cards" USING btree ("platform_state","id");--> statement-breakpoint
ALTER TABLE "level_codes" ADD COLUMN "discount_type" text DEFAULT 'amount' NOT NULL;--> statement-breakpoint
ALTER TABLE "level_codes" ADD COLUMN "platform_state" text DEFAULT 'unknown' NOT NULL;--> statement-breakpoint
ALTER TABLE "level_codes" ADD COLUMN "platform_differs" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "level_codes" ADD COLUMN "platform_problem" text;--> statement-breakpoint
ALTER TABLE "level_codes" ADD COLUMN "platform_checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "level_codes" ADD CONSTRAINT "level_codes_discount_type" CHECK ("level_codes"."discount_type" in ('amount', 'percent'));--> statement-breakpoint
ALTER TABLE "level_codes" ADD CONSTRAINT "level_codes_platform_state" CHECK ("level_codes"."platform_state" in ('unknown', 'waiting', 'present', 'differs', 'missing', 'refused'));--> statement-breakpoint
ALTER TABLE "tags" ADD COLUMN "carriers" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE TABLE "catalog_syncs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "catalog_syncs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"what" text NOT NULL,
	"by" text NOT NULL,
	"counts" jsonb NOT NULL,
	"touched" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"undone_at" timestamp with time zone,
	CONSTRAINT "catalog_syncs_what" CHECK ("catalog_syncs"."what" in ('catalogue', 'collections', 'tags'))
);
