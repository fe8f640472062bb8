CREATE TABLE "price_drifts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "price_drifts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"variant_id" bigint,
	"rule_id" integer,
	"platform_price" numeric(14, 2) NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "price_drifts_variant_key" UNIQUE("variant_id"),
	CONSTRAINT "price_drifts_rule_key" UNIQUE("rule_id"),
	CONSTRAINT "price_drifts_one" CHECK (num_nonnulls("price_drifts"."variant_id", "price_drifts"."rule_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "platform_checks" (
	"name" text PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"result" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_addresses" (
	"shop" text NOT NULL,
	"address" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_addresses_shop_address_pk" PRIMARY KEY("shop","address")
);
--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "platform_product_id" text;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "platform_updated_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "acl_rules" ADD COLUMN "valid" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "price_drifts" ADD CONSTRAINT "price_drifts_variant_id_variants_id_fk" FOREIGN KEY ("variant_id") REFERENCES "public"."variants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "price_drifts" ADD CONSTRAINT "price_drifts_rule_id_acl_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "platform_events_topic" ON "platform_events" USING btree ("topic","received_at");