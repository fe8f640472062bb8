CREATE TABLE "chat_bot" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"holder" text,
	"lease_until" timestamp with time zone,
	"state" text DEFAULT 'connecting' NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"name" text,
	"problem" text,
	"detail" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"token_hash" "bytea",
	"unreadable" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "chat_bot_one" CHECK ("chat_bot"."one"),
	CONSTRAINT "chat_bot_state" CHECK ("chat_bot"."state" in ('connecting', 'connected', 'waiting')),
	CONSTRAINT "chat_bot_problem" CHECK ("chat_bot"."problem" in ('token_refused', 'intents_refused', 'rate_limited', 'unreachable', 'silent', 'server_error', 'bad_reply', 'crashed'))
);
--> statement-breakpoint
CREATE TABLE "chat_cursors" (
	"channel_id" text PRIMARY KEY NOT NULL,
	"message_id" numeric(20, 0) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chat_told" (
	"account" "bytea" PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "chat_told_at" ON "chat_told" USING btree ("at");
