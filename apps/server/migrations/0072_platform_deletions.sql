CREATE TABLE "platform_deletions" (
	"platform_product_id" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
