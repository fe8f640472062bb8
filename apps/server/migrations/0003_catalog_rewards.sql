CREATE TABLE "level_decays" (
	"month" text PRIMARY KEY NOT NULL,
	"done_up_to" bigint DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "log_lines" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "log_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"source" text NOT NULL,
	"line" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tags" DROP CONSTRAINT "tags_name_unique";--> statement-breakpoint
ALTER TABLE "collections" ADD COLUMN "edited_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "tags" ADD COLUMN "platform_name" text;--> statement-breakpoint
UPDATE "tags" SET "platform_name" = "name";--> statement-breakpoint
ALTER TABLE "tags" ALTER COLUMN "platform_name" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "client_ip" "inet";--> statement-breakpoint
CREATE INDEX "log_lines_source" ON "log_lines" USING btree ("source","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "tags_name_key" ON "tags" USING btree (lower("name")) WHERE "tags"."deleted_at" is null and "tags"."name" <> '';--> statement-breakpoint
CREATE INDEX "coupons_search" ON "coupons" USING gin ("code" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "gift_cards_search" ON "gift_cards" USING gin ("code" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "tickets_client" ON "tickets" USING btree ("client_ip","created_at" DESC NULLS LAST);--> statement-breakpoint
ALTER TABLE "tags" ADD CONSTRAINT "tags_platform_key" UNIQUE("platform_name");