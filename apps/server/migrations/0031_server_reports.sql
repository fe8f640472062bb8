CREATE TABLE "server_reports" (
	"server_id" bigint PRIMARY KEY NOT NULL,
	"report" jsonb NOT NULL,
	"counters" jsonb
);
--> statement-breakpoint
ALTER TABLE "server_reports" ADD CONSTRAINT "server_reports_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;