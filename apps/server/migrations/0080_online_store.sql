ALTER TABLE "products" ADD COLUMN "unlisted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "unpublished" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "unpublished" boolean DEFAULT false NOT NULL;