ALTER TABLE "acl_rules" ADD COLUMN "shares_variant" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Rules that are sold as the same variant already stay as they are: the oldest of them has it, the others share it.
UPDATE "acl_rules" r SET "shares_variant" = true
WHERE r."deleted_at" IS NULL AND EXISTS (
  SELECT 1 FROM "acl_rules" o
  WHERE o."platform_variant_id" = r."platform_variant_id" AND o."deleted_at" IS NULL AND o."id" < r."id"
);--> statement-breakpoint
CREATE UNIQUE INDEX "acl_rules_variant_key" ON "acl_rules" USING btree ("platform_variant_id") WHERE "acl_rules"."deleted_at" is null and not "acl_rules"."shares_variant";