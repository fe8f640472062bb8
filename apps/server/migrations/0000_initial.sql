CREATE SEQUENCE "public"."agent_generation" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"name" text NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "api_keys_keyHash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "captchas" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"answer" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chat_points" (
	"user_id" bigint NOT NULL,
	"day" text NOT NULL,
	"granted" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "email_codes" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"email" text NOT NULL,
	"purpose" text NOT NULL,
	"code_hash" "bytea" NOT NULL,
	"verify_id" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"client_ip" "inet",
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "email_codes_purpose" CHECK ("email_codes"."purpose" in ('register', 'forgot'))
);
--> statement-breakpoint
CREATE TABLE "login_failures" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "login_failures_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"key" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"impersonator_id" bigint,
	"parent_hash" "bytea",
	"ip" "inet",
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"username" text NOT NULL,
	"email" text NOT NULL,
	"password_hash" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_superuser" boolean DEFAULT false NOT NULL,
	"discord_id" text,
	"discord_name" text,
	"coins" bigint DEFAULT 0 NOT NULL,
	"level_points" bigint DEFAULT 0 NOT NULL,
	"invite_code" text NOT NULL,
	"invited_by" bigint,
	"invite_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_login" timestamp with time zone,
	"last_login_ip" "inet",
	"last_location" char(2),
	CONSTRAINT "users_inviteCode_unique" UNIQUE("invite_code"),
	CONSTRAINT "users_coins" CHECK ("users"."coins" >= 0),
	CONSTRAINT "users_level_points" CHECK ("users"."level_points" >= 0)
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor_id" bigint,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"target_type" text NOT NULL,
	"target_id" text NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"ip" "inet"
);
--> statement-breakpoint
CREATE TABLE "collections" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "collections_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"platform_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"image_url" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "collections_platformId_unique" UNIQUE("platform_id")
);
--> statement-breakpoint
CREATE TABLE "product_collections" (
	"product_id" bigint NOT NULL,
	"collection_id" bigint NOT NULL,
	CONSTRAINT "product_collections_product_id_collection_id_pk" PRIMARY KEY("product_id","collection_id")
);
--> statement-breakpoint
CREATE TABLE "product_options" (
	"product_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"values" text[] NOT NULL,
	CONSTRAINT "product_options_product_id_position_pk" PRIMARY KEY("product_id","position"),
	CONSTRAINT "product_options_position" CHECK ("product_options"."position" between 1 and 3)
);
--> statement-breakpoint
CREATE TABLE "product_tags" (
	"product_id" bigint NOT NULL,
	"tag_id" bigint NOT NULL,
	CONSTRAINT "product_tags_product_id_tag_id_pk" PRIMARY KEY("product_id","tag_id")
);
--> statement-breakpoint
CREATE TABLE "products" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "products_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"platform_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"image_url" text,
	"active" boolean DEFAULT true NOT NULL,
	"valid" boolean DEFAULT true NOT NULL,
	"old_flag" boolean DEFAULT false NOT NULL,
	"platform_updated_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "tags" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tags_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "tags_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "variants" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "variants_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"product_id" bigint NOT NULL,
	"platform_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"option1" text,
	"option2" text,
	"option3" text,
	"price" numeric(14, 2) NOT NULL,
	"cart_step" integer DEFAULT 1 NOT NULL,
	"proxy_time" integer DEFAULT 30 NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"server_group_id" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "variants_step" CHECK ("variants"."cart_step" in (1, 8, 16, 32, 64, 128, 256)),
	CONSTRAINT "variants_time" CHECK ("variants"."proxy_time" between 1 and 3650),
	CONSTRAINT "variants_price" CHECK ("variants"."price" >= 0)
);
--> statement-breakpoint
CREATE TABLE "proxies" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "proxies_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"lease_id" bigint NOT NULL,
	"server_id" bigint NOT NULL,
	"ip" "inet" NOT NULL,
	"port" integer NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"available" integer,
	"bing_delay" integer,
	"google_delay" integer,
	"amazon_delay" integer,
	"checked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_users" (
	"server_id" bigint NOT NULL,
	"username" text NOT NULL,
	"order_id" bigint,
	"password" text NOT NULL,
	"prefixes" text[] NOT NULL,
	"rules" integer[] NOT NULL,
	"wanted" boolean DEFAULT true NOT NULL,
	"generation" bigint DEFAULT nextval('agent_generation') NOT NULL,
	"applied_generation" bigint DEFAULT 0 NOT NULL,
	"digest" text,
	"refusal" text,
	CONSTRAINT "agent_users_server_id_username_pk" PRIMARY KEY("server_id","username")
);
--> statement-breakpoint
CREATE TABLE "server_group_servers" (
	"group_id" bigint NOT NULL,
	"server_id" bigint NOT NULL,
	CONSTRAINT "server_group_servers_group_id_server_id_pk" PRIMARY KEY("group_id","server_id")
);
--> statement-breakpoint
CREATE TABLE "server_groups" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "server_groups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "servers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"ip" "inet" NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"ssh_port" integer DEFAULT 22 NOT NULL,
	"ssh_password" "bytea",
	"ssh_host_key" text,
	"agent_port" integer DEFAULT 65533 NOT NULL,
	"agent_token" "bytea",
	"agent_certificate" text,
	"proxy_port" integer DEFAULT 3128 NOT NULL,
	"connected" boolean DEFAULT false NOT NULL,
	"last_seen_at" timestamp with time zone,
	"unreachable_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"prefixes_generation" bigint DEFAULT 1 NOT NULL,
	"prefixes_applied" bigint DEFAULT 0 NOT NULL,
	"provisioning" jsonb,
	"removals_allowed" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "servers_ports" CHECK ("servers"."ssh_port" between 1 and 65535 and "servers"."agent_port" between 1 and 65535 and "servers"."proxy_port" between 1 and 65535)
);
--> statement-breakpoint
CREATE TABLE "acl_group_rules" (
	"group_id" bigint NOT NULL,
	"rule_id" integer NOT NULL,
	CONSTRAINT "acl_group_rules_group_id_rule_id_pk" PRIMARY KEY("group_id","rule_id")
);
--> statement-breakpoint
CREATE TABLE "acl_groups" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "acl_groups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "acl_rules" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "acl_rules_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"price" numeric(14, 2) NOT NULL,
	"platform_variant_id" text NOT NULL,
	"acl_value" text NOT NULL,
	"domains" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "acl_rules_price" CHECK ("acl_rules"."price" >= 0)
);
--> statement-breakpoint
CREATE TABLE "chunks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "chunks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"cidr_id" bigint NOT NULL,
	"server_id" bigint,
	"base" "inet" NOT NULL,
	"size" integer NOT NULL,
	"excluded_rules" integer[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "chunks_size" CHECK ("chunks"."size" between 1 and 4096 and ("chunks"."size" & ("chunks"."size" - 1)) = 0)
);
--> statement-breakpoint
CREATE TABLE "cidrs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "cidrs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"cidr" "cidr" NOT NULL,
	"server_id" bigint,
	"excluded_rules" integer[] DEFAULT '{}' NOT NULL,
	"delivery_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "lease_blocks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "lease_blocks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"lease_id" bigint NOT NULL,
	"chunk_id" integer NOT NULL,
	"start" integer NOT NULL,
	"length" integer NOT NULL,
	"rules" integer[] NOT NULL,
	"leased_at" timestamp with time zone DEFAULT now() NOT NULL,
	"released_at" timestamp with time zone,
	CONSTRAINT "lease_blocks_aligned" CHECK ("lease_blocks"."start" % "lease_blocks"."length" = 0)
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "leases_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"group_id" bigint NOT NULL,
	"step" integer NOT NULL,
	"rules" integer[] NOT NULL,
	"blocks" integer NOT NULL,
	"state" text DEFAULT 'reserved' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"activated_at" timestamp with time zone,
	"released_at" timestamp with time zone,
	CONSTRAINT "leases_state" CHECK ("leases"."state" in ('reserved', 'active', 'released')),
	CONSTRAINT "leases_rules" CHECK (cardinality("leases"."rules") > 0),
	CONSTRAINT "leases_released" CHECK (("leases"."state" = 'released') = ("leases"."released_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "rule_usage" (
	"chunk_id" integer NOT NULL,
	"rule_id" integer NOT NULL,
	"bits" "varbit" NOT NULL,
	CONSTRAINT "rule_usage_chunk_id_rule_id_pk" PRIMARY KEY("chunk_id","rule_id")
);
--> statement-breakpoint
CREATE TABLE "order_events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "order_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "orders_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" text NOT NULL,
	"user_id" bigint NOT NULL,
	"product_id" bigint NOT NULL,
	"variant_id" bigint NOT NULL,
	"server_group_id" bigint NOT NULL,
	"state" text DEFAULT 'placed' NOT NULL,
	"product_name" text NOT NULL,
	"variant_name" text NOT NULL,
	"quantity" integer NOT NULL,
	"cart_step" integer NOT NULL,
	"proxy_time" integer NOT NULL,
	"variant_price" numeric(14, 2) NOT NULL,
	"acl_price" numeric(14, 2) NOT NULL,
	"amount" numeric(14, 2) NOT NULL,
	"pay_amount" numeric(14, 2),
	"rules" integer[] NOT NULL,
	"platform_order_id" text,
	"platform_order_number" text,
	"checkout_url" text,
	"discount_code" text,
	"reserved_until" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"paid_at" timestamp with time zone,
	"expired_at" timestamp with time zone,
	"reset_time" timestamp with time zone,
	"reminder_sent_at" timestamp with time zone,
	"fail_reason" text,
	"proxy_username" text NOT NULL,
	"proxy_password" text NOT NULL,
	"delivery_num" integer DEFAULT 0 NOT NULL,
	"task" text,
	"task_id" text,
	"task_at" timestamp with time zone,
	"task_error" text,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "orders_orderId_unique" UNIQUE("order_id"),
	CONSTRAINT "orders_proxyUsername_unique" UNIQUE("proxy_username"),
	CONSTRAINT "orders_state" CHECK ("orders"."state" in ('placed', 'timed_out', 'paid', 'delivering', 'partly_delivered', 'delivered', 'expired', 'failed')),
	CONSTRAINT "orders_quantity" CHECK ("orders"."quantity" > 0 and "orders"."quantity" % "orders"."cart_step" = 0),
	CONSTRAINT "orders_amount" CHECK ("orders"."amount" = "orders"."quantity" * ("orders"."variant_price" + "orders"."acl_price")),
	CONSTRAINT "orders_delivery" CHECK ("orders"."delivery_num" between 0 and "orders"."quantity"),
	CONSTRAINT "orders_rules" CHECK (cardinality("orders"."rules") > 0),
	CONSTRAINT "orders_paid" CHECK (("orders"."paid_at" is null) = ("orders"."pay_amount" is null))
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" bigint NOT NULL,
	"platform_order_id" text NOT NULL,
	"platform_order_number" text NOT NULL,
	"kind" text NOT NULL,
	"amount" numeric(14, 2) NOT NULL,
	"discount" numeric(14, 2) NOT NULL,
	"accepted" boolean NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_platformOrderId_unique" UNIQUE("platform_order_id"),
	CONSTRAINT "payments_kind" CHECK ("payments"."kind" in ('purchase', 'renewal'))
);
--> statement-breakpoint
CREATE TABLE "platform_events" (
	"event_id" text PRIMARY KEY NOT NULL,
	"topic" text NOT NULL,
	"payload" jsonb NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"processed_at" timestamp with time zone,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "coupons" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "coupons_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"holder_id" bigint NOT NULL,
	"code" text NOT NULL,
	"code_type" integer NOT NULL,
	"discount" numeric(14, 2) NOT NULL,
	"is_used" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "coupons_type" CHECK ("coupons"."code_type" in (1, 2)),
	CONSTRAINT "coupons_discount" CHECK ("coupons"."discount" >= 0)
);
--> statement-breakpoint
CREATE TABLE "gift_cards" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "gift_cards_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"mount" numeric(14, 2) NOT NULL,
	"point" bigint NOT NULL,
	"code" text NOT NULL,
	"is_exchanged" boolean DEFAULT false NOT NULL,
	"exchanged_by" bigint,
	"exchanged_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "gift_cards_values" CHECK ("gift_cards"."mount" > 0 and "gift_cards"."point" >= 0),
	CONSTRAINT "gift_cards_exchanged" CHECK ("gift_cards"."is_exchanged" = ("gift_cards"."exchanged_by" is not null))
);
--> statement-breakpoint
CREATE TABLE "level_codes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "level_codes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"level" integer NOT NULL,
	"discount" numeric(14, 2) NOT NULL,
	"code" text DEFAULT '' NOT NULL,
	"point" bigint NOT NULL,
	CONSTRAINT "level_codes_level_unique" UNIQUE("level"),
	CONSTRAINT "level_codes_level" CHECK ("level_codes"."level" between 1 and 5),
	CONSTRAINT "level_codes_point" CHECK ("level_codes"."point" >= 0)
);
--> statement-breakpoint
CREATE TABLE "point_records" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "point_records_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"point" bigint NOT NULL,
	"reason" text NOT NULL,
	"cause" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "point_records_cause_unique" UNIQUE("cause"),
	CONSTRAINT "point_records_kind" CHECK ("point_records"."kind" in ('level', 'coins'))
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" jsonb,
	"secret" "bytea",
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "faqs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "faqs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"question" text NOT NULL,
	"answer" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tickets" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tickets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"username" text NOT NULL,
	"email" text NOT NULL,
	"phone" text NOT NULL,
	"message" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_impersonator_id_users_id_fk" FOREIGN KEY ("impersonator_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_collections" ADD CONSTRAINT "product_collections_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_collections" ADD CONSTRAINT "product_collections_collection_id_collections_id_fk" FOREIGN KEY ("collection_id") REFERENCES "public"."collections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_options" ADD CONSTRAINT "product_options_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_tags" ADD CONSTRAINT "product_tags_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_tags" ADD CONSTRAINT "product_tags_tag_id_tags_id_fk" FOREIGN KEY ("tag_id") REFERENCES "public"."tags"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_server_group_id_server_groups_id_fk" FOREIGN KEY ("server_group_id") REFERENCES "public"."server_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "proxies" ADD CONSTRAINT "proxies_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "proxies" ADD CONSTRAINT "proxies_lease_id_leases_id_fk" FOREIGN KEY ("lease_id") REFERENCES "public"."leases"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "proxies" ADD CONSTRAINT "proxies_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_users" ADD CONSTRAINT "agent_users_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_group_servers" ADD CONSTRAINT "server_group_servers_group_id_server_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."server_groups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_group_servers" ADD CONSTRAINT "server_group_servers_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "acl_group_rules" ADD CONSTRAINT "acl_group_rules_group_id_acl_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."acl_groups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "acl_group_rules" ADD CONSTRAINT "acl_group_rules_rule_id_acl_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chunks" ADD CONSTRAINT "chunks_cidr_id_cidrs_id_fk" FOREIGN KEY ("cidr_id") REFERENCES "public"."cidrs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cidrs" ADD CONSTRAINT "cidrs_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "leases" ADD CONSTRAINT "leases_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_usage" ADD CONSTRAINT "rule_usage_chunk_id_chunks_id_fk" FOREIGN KEY ("chunk_id") REFERENCES "public"."chunks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_usage" ADD CONSTRAINT "rule_usage_rule_id_acl_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."acl_rules"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_variant_id_variants_id_fk" FOREIGN KEY ("variant_id") REFERENCES "public"."variants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_server_group_id_server_groups_id_fk" FOREIGN KEY ("server_group_id") REFERENCES "public"."server_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "coupons" ADD CONSTRAINT "coupons_holder_id_users_id_fk" FOREIGN KEY ("holder_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD CONSTRAINT "gift_cards_exchanged_by_users_id_fk" FOREIGN KEY ("exchanged_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "point_records" ADD CONSTRAINT "point_records_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_user" ON "api_keys" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_points_key" ON "chat_points" USING btree ("user_id","day");--> statement-breakpoint
CREATE INDEX "email_codes_email" ON "email_codes" USING btree (lower("email"),"created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "email_codes_client" ON "email_codes" USING btree ("client_ip","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "login_failures_key" ON "login_failures" USING btree ("key","at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_key" ON "users" USING btree (lower("username"));--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "users_discord_key" ON "users" USING btree ("discord_id");--> statement-breakpoint
CREATE INDEX "users_search" ON "users" USING gin (("username" || ' ' || "email") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "users_invited_by" ON "users" USING btree ("invited_by","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "audit_log_target" ON "audit_log" USING btree ("target_type","target_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "audit_log_search" ON "audit_log" USING gin (("actor_name" || ' ' || "action" || ' ' || "target_type" || ' ' || "target_id") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "product_collections_collection" ON "product_collections" USING btree ("collection_id");--> statement-breakpoint
CREATE INDEX "product_tags_tag" ON "product_tags" USING btree ("tag_id");--> statement-breakpoint
CREATE UNIQUE INDEX "products_platform_key" ON "products" USING btree ("platform_id") WHERE "products"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "products_search" ON "products" USING gin ("name" gin_trgm_ops);--> statement-breakpoint
CREATE UNIQUE INDEX "variants_platform_key" ON "variants" USING btree ("platform_id") WHERE "variants"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "variants_options_key" ON "variants" USING btree ("product_id",coalesce("option1", ''),coalesce("option2", ''),coalesce("option3", '')) WHERE "variants"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "variants_group" ON "variants" USING btree ("server_group_id");--> statement-breakpoint
CREATE UNIQUE INDEX "proxies_live_key" ON "proxies" USING btree ("order_id","ip") WHERE "proxies"."state" <> 'retired';--> statement-breakpoint
CREATE INDEX "proxies_order" ON "proxies" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "proxies_server" ON "proxies" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "agent_users_order" ON "agent_users" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "agent_users_behind" ON "agent_users" USING btree ("server_id","generation") WHERE "agent_users"."generation" <> "agent_users"."applied_generation";--> statement-breakpoint
CREATE INDEX "server_group_servers_server" ON "server_group_servers" USING btree ("server_id");--> statement-breakpoint
CREATE UNIQUE INDEX "server_groups_name_key" ON "server_groups" USING btree (lower("name")) WHERE "server_groups"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "servers_name_key" ON "servers" USING btree (lower("name")) WHERE "servers"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "acl_group_rules_rule" ON "acl_group_rules" USING btree ("rule_id");--> statement-breakpoint
CREATE UNIQUE INDEX "acl_groups_name_key" ON "acl_groups" USING btree (lower("name"));--> statement-breakpoint
CREATE UNIQUE INDEX "acl_rules_name_key" ON "acl_rules" USING btree (lower("name")) WHERE "acl_rules"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "chunks_server" ON "chunks" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "chunks_cidr" ON "chunks" USING btree ("cidr_id");--> statement-breakpoint
CREATE INDEX "cidrs_server" ON "cidrs" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "cidrs_delivery" ON "cidrs" USING btree ("delivery_count","id");--> statement-breakpoint
CREATE INDEX "lease_blocks_lease" ON "lease_blocks" USING btree ("lease_id");--> statement-breakpoint
CREATE INDEX "lease_blocks_place" ON "lease_blocks" USING btree ("chunk_id","start");--> statement-breakpoint
CREATE INDEX "leases_order" ON "leases" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "order_events_order" ON "order_events" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "orders_user" ON "orders" USING btree ("user_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_product" ON "orders" USING btree ("product_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_paid_at" ON "orders" USING btree ("paid_at");--> statement-breakpoint
CREATE INDEX "orders_platform" ON "orders" USING btree ("platform_order_id");--> statement-breakpoint
CREATE INDEX "orders_created" ON "orders" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "orders_reservations" ON "orders" USING btree ("reserved_until") WHERE "orders"."state" = 'placed';--> statement-breakpoint
CREATE INDEX "orders_expiry" ON "orders" USING btree ("expired_at") WHERE "orders"."state" in ('paid', 'delivering', 'partly_delivered', 'delivered', 'failed');--> statement-breakpoint
CREATE INDEX "orders_search" ON "orders" USING gin (("order_id" || ' ' || "product_name" || ' ' || coalesce("platform_order_number", '')) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "orders_tasks" ON "orders" USING btree ("task_at") WHERE "orders"."task" is not null;--> statement-breakpoint
CREATE INDEX "payments_order" ON "payments" USING btree ("order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_one_purchase" ON "payments" USING btree ("order_id") WHERE "payments"."kind" = 'purchase' and "payments"."accepted";--> statement-breakpoint
CREATE INDEX "platform_events_received" ON "platform_events" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "coupons_code_key" ON "coupons" USING btree (lower("code"));--> statement-breakpoint
CREATE INDEX "coupons_holder" ON "coupons" USING btree ("holder_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "gift_cards_code_key" ON "gift_cards" USING btree (lower("code"));--> statement-breakpoint
CREATE INDEX "gift_cards_free" ON "gift_cards" USING btree ("mount","point","id") WHERE not "gift_cards"."is_exchanged";--> statement-breakpoint
CREATE INDEX "point_records_user" ON "point_records" USING btree ("user_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "faqs_search" ON "faqs" USING gin (("question" || ' ' || "answer") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "tickets_search" ON "tickets" USING gin (("username" || ' ' || "email" || ' ' || "message") gin_trgm_ops);