CREATE TABLE "chat_account_points" (
	"account" "bytea" NOT NULL,
	"day" text NOT NULL,
	"granted" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "chat_account_points_account_day_pk" PRIMARY KEY("account","day")
);
