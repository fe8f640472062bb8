DROP INDEX "point_records_user";--> statement-breakpoint
CREATE INDEX "point_records_user" ON "point_records" USING btree ("user_id","id","point","kind");
