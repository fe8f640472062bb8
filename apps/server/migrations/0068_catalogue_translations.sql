DROP INDEX "faqs_search";--> statement-breakpoint
ALTER TABLE "collections" ADD COLUMN "translations" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "translations" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "tags" ADD COLUMN "translations" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "translations" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "faqs" ADD COLUMN "translations" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "faqs_search" ON "faqs" USING gin (("question" || ' ' || "answer" || ' ' || coalesce("translations" #>> '{zh-CN,question}', '') || ' ' || coalesce("translations" #>> '{zh-CN,answer}', '')) gin_trgm_ops);