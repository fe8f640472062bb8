CREATE TABLE "platform_tokens" (
	"credentials" "bytea" PRIMARY KEY NOT NULL,
	"token" "bytea",
	"obtained_at" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failure" jsonb,
	"retry_at" timestamp with time zone,
	CONSTRAINT "platform_tokens_whole" CHECK (("platform_tokens"."token" is null) = ("platform_tokens"."ends_at" is null) and ("platform_tokens"."token" is null) = ("platform_tokens"."obtained_at" is null))
);
--> statement-breakpoint
CREATE TABLE "public_certificate" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"url" text NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "public_certificate_one" CHECK ("public_certificate"."one")
);
--> statement-breakpoint
CREATE TABLE "refused_tokens" (
	"service" text PRIMARY KEY NOT NULL,
	"token" "bytea" NOT NULL,
	"message" text NOT NULL,
	"since" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "chat_bot" ADD COLUMN "commands_problem" text;