CREATE TABLE "saved_replies" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "saved_replies_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ticket_messages" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ticket_messages_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"ticket_id" bigint NOT NULL,
	"author" text NOT NULL,
	"user_id" bigint,
	"text" text NOT NULL,
	"mail_key" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "ticket_messages_author" CHECK ("ticket_messages"."author" in ('customer', 'operator', 'note'))
);
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "user_id" bigint;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "assignee" bigint;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "waiting_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "saved_replies_title" ON "saved_replies" USING btree ("title","id");--> statement-breakpoint
CREATE INDEX "saved_replies_search" ON "saved_replies" USING gin (("title" || ' ' || "text") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "ticket_messages_ticket" ON "ticket_messages" USING btree ("ticket_id","id");--> statement-breakpoint
CREATE INDEX "tickets_user" ON "tickets" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "tickets_assignee" ON "tickets" USING btree ("assignee","id") WHERE "tickets"."state" <> 'closed';--> statement-breakpoint
CREATE INDEX "tickets_waiting" ON "tickets" USING btree ((case when "state" = 'open' then coalesce("waiting_since", "created_at") else 'infinity'::timestamptz end),"id");--> statement-breakpoint
-- The version before, which runs for some minutes more, writes answers into their tickets. First the trigger, so that no
-- answer is missed; the copy leaves out those that it has copied.
CREATE FUNCTION keep_ticket_answer() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO ticket_messages (ticket_id, author, user_id, text, mail_key, created_at)
  VALUES (NEW.id, 'operator', NEW.answered_by, NEW.answer, 'ticket:' || NEW.id || ':answer',
    coalesce(NEW.answered_at, NEW.created_at));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER keep_answer AFTER UPDATE OF answer ON tickets FOR EACH ROW
  WHEN (OLD.answer IS NULL AND NEW.answer IS NOT NULL) EXECUTE FUNCTION keep_ticket_answer();--> statement-breakpoint
INSERT INTO ticket_messages (ticket_id, author, user_id, text, mail_key, created_at)
SELECT id, 'operator', answered_by, answer, 'ticket:' || id || ':answer', coalesce(answered_at, created_at)
FROM tickets t WHERE answer IS NOT NULL AND NOT EXISTS (SELECT FROM ticket_messages m WHERE m.ticket_id = t.id)
ORDER BY answered_at, id;
