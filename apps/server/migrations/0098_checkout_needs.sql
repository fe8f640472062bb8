ALTER TABLE "products" ADD COLUMN "subscription_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "shipped" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "subscription_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "shipped" boolean DEFAULT false NOT NULL;