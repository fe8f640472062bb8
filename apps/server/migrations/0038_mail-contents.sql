CREATE TABLE "mail_contents" (
	"mail_id" bigint PRIMARY KEY NOT NULL,
	"subject" text NOT NULL,
	"text" text NOT NULL,
	"html" text NOT NULL,
	"username" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mail_contents" ADD CONSTRAINT "mail_contents_mail_id_mails_id_fk" FOREIGN KEY ("mail_id") REFERENCES "public"."mails"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mail_contents_created" ON "mail_contents" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "mail_contents_username" ON "mail_contents" USING btree (lower("username"));