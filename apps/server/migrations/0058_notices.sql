CREATE TABLE "notice_channels" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notice_channels_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"language" text DEFAULT 'en' NOT NULL,
	"kind" text NOT NULL,
	"target" "bytea",
	"host" text,
	"secret" "bytea",
	"user_ids" bigint[] DEFAULT '{}' NOT NULL,
	"severities" text[] NOT NULL,
	"digest" boolean NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"digest_day" text,
	"digest_until" timestamp with time zone DEFAULT now() NOT NULL,
	"last_sent_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failure" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notice_channels_language" CHECK ("notice_channels"."language" in ('en', 'zh-CN')),
	CONSTRAINT "notice_channels_kind" CHECK ("notice_channels"."kind" in ('mail', 'chat', 'webhook')),
	CONSTRAINT "notice_channels_failure" CHECK ("notice_channels"."failure" in ('status', 'no_chat', 'no_recipient', 'unreadable_target', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off')),
	CONSTRAINT "notice_channels_target" CHECK (("notice_channels"."kind" = 'mail') = ("notice_channels"."target" is null))
);
--> statement-breakpoint
CREATE TABLE "notice_rules" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"rules" jsonb NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notice_rules_one" CHECK ("notice_rules"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "notice_sends" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notice_sends_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"notice_id" bigint,
	"channel_id" bigint NOT NULL,
	"key" text NOT NULL,
	"telling" text NOT NULL,
	"notice_ids" bigint[],
	"more" integer DEFAULT 0 NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"job_id" text,
	"claimed_at" timestamp with time zone,
	"status" integer,
	"failure" text,
	"detail" text,
	"mail_keys" text[],
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "notice_sends_key" UNIQUE("key"),
	CONSTRAINT "notice_sends_telling" CHECK ("notice_sends"."telling" in ('opened', 'worse', 'lasts', 'ended', 'digest', 'test')),
	CONSTRAINT "notice_sends_state" CHECK ("notice_sends"."state" in ('waiting', 'sent', 'failed', 'skipped')),
	CONSTRAINT "notice_sends_failure" CHECK ("notice_sends"."failure" in ('status', 'no_chat', 'no_recipient', 'unreadable_target', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off'))
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"cause" text NOT NULL,
	"subject" text NOT NULL,
	"key" text,
	"severity" text NOT NULL,
	"words" text NOT NULL,
	"params" jsonb NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"told_count" integer DEFAULT 0 NOT NULL,
	"told_severity" text,
	"told" integer DEFAULT 0 NOT NULL,
	"told_at" timestamp with time zone,
	"since" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"closed_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text,
	"muted_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notices_key" UNIQUE("key"),
	CONSTRAINT "notices_cause" CHECK ("notices"."cause" in ('server_down', 'undelivered', 'dispute', 'proofs', 'inventory', 'late_events', 'payment', 'order_trouble', 'server_trouble', 'upgrade', 'webhooks', 'dead_letter', 'mails', 'certificate', 'token', 'stock', 'abuse', 'prices', 'tickets', 'other')),
	CONSTRAINT "notices_severity" CHECK ("notices"."severity" in ('critical', 'warning', 'info'))
);
--> statement-breakpoint
ALTER TABLE "notice_sends" ADD CONSTRAINT "notice_sends_notice_id_notices_id_fk" FOREIGN KEY ("notice_id") REFERENCES "public"."notices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notice_sends" ADD CONSTRAINT "notice_sends_channel_id_notice_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notice_channels"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notice_sends_notice" ON "notice_sends" USING btree ("notice_id","id");--> statement-breakpoint
CREATE INDEX "notice_sends_channel" ON "notice_sends" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "notice_sends_created" ON "notice_sends" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "notice_sends_waiting" ON "notice_sends" USING btree ("due_at") WHERE "notice_sends"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "notice_sends_failed" ON "notice_sends" USING btree ("notice_id") WHERE "notice_sends"."state" = 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX "notices_open" ON "notices" USING btree ("cause","subject") WHERE "notices"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "notices_cause" ON "notices" USING btree ("cause","id");--> statement-breakpoint
CREATE INDEX "notices_severity" ON "notices" USING btree ("severity","id");--> statement-breakpoint
CREATE INDEX "notices_search" ON "notices" USING gin (("subject" || ' ' || "params"::text) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "notices_changed" ON "notices" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "notices_closed" ON "notices" USING btree ("closed_at");--> statement-breakpoint
-- Until somebody chooses otherwise, notices go where mails to administrators went: to all whose work it is.
INSERT INTO "notice_channels" ("name", "kind", "severities", "digest") VALUES ('Mail', 'mail', '{critical,warning}', true);
