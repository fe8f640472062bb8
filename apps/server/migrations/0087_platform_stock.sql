ALTER TABLE "variants" ADD COLUMN "platform_stock" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "platform_stock" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_platform_stock" CHECK ("variants"."platform_stock" in ('none', 'counted', 'sold_out'));--> statement-breakpoint
ALTER TABLE "acl_rules" ADD CONSTRAINT "acl_rules_platform_stock" CHECK ("acl_rules"."platform_stock" in ('none', 'counted', 'sold_out'));