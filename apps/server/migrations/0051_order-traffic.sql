-- Traffic by order, beside that by address: both are written together.
CREATE TABLE "order_traffic_hours" (
	"order_id" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "order_traffic_hours_order_id_at_server_id_pk" PRIMARY KEY("order_id","at","server_id")
);
--> statement-breakpoint
ALTER TABLE "order_traffic_hours" ADD CONSTRAINT "order_traffic_hours_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "order_traffic_hours_at" ON "order_traffic_hours" USING btree ("at");--> statement-breakpoint
INSERT INTO "order_traffic_hours"
  SELECT s.order_id, s.at, s.server_id, s.up, s.down, s.requests, s.connections, coalesce(c.codes, '{}')
  FROM (
    SELECT order_id, at, server_id, least(sum(up), 9e15) AS up, least(sum(down), 9e15) AS down,
      least(sum(requests), 9e15) AS requests, least(sum(connections), 9e15) AS connections
    FROM "traffic_hours" WHERE order_id IS NOT NULL GROUP BY 1, 2, 3
  ) s
  LEFT JOIN (
    SELECT order_id, at, server_id, jsonb_object_agg(code, least(count, 9000000000000000)) AS codes
    FROM (
      SELECT order_id, at, server_id, each.key AS code, sum(each.value::numeric) AS count
      FROM "traffic_hours", jsonb_each_text(codes) AS each WHERE order_id IS NOT NULL AND codes <> '{}' GROUP BY 1, 2, 3, 4
    ) coded GROUP BY 1, 2, 3
  ) c USING (order_id, at, server_id);--> statement-breakpoint
CREATE TABLE "order_traffic_days" (
	"order_id" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "order_traffic_days_order_id_at_server_id_pk" PRIMARY KEY("order_id","at","server_id")
);
--> statement-breakpoint
ALTER TABLE "order_traffic_days" ADD CONSTRAINT "order_traffic_days_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "order_traffic_days_at" ON "order_traffic_days" USING btree ("at");--> statement-breakpoint
INSERT INTO "order_traffic_days"
  SELECT s.order_id, s.at, s.server_id, s.up, s.down, s.requests, s.connections, coalesce(c.codes, '{}')
  FROM (
    SELECT order_id, at, server_id, least(sum(up), 9e15) AS up, least(sum(down), 9e15) AS down,
      least(sum(requests), 9e15) AS requests, least(sum(connections), 9e15) AS connections
    FROM "traffic_days" WHERE order_id IS NOT NULL GROUP BY 1, 2, 3
  ) s
  LEFT JOIN (
    SELECT order_id, at, server_id, jsonb_object_agg(code, least(count, 9000000000000000)) AS codes
    FROM (
      SELECT order_id, at, server_id, each.key AS code, sum(each.value::numeric) AS count
      FROM "traffic_days", jsonb_each_text(codes) AS each WHERE order_id IS NOT NULL AND codes <> '{}' GROUP BY 1, 2, 3, 4
    ) coded GROUP BY 1, 2, 3
  ) c USING (order_id, at, server_id);--> statement-breakpoint
-- A count that is null counts nothing.
CREATE OR REPLACE FUNCTION add_counts(had jsonb, more jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  select case when more = '{}' then had when had = '{}' then more else (
    select jsonb_object_agg(code, least(count, 9000000000000000)) from (
      select key as code, sum(coalesce(value, '0')::numeric) as count
      from (select * from jsonb_each_text(had) union all select * from jsonb_each_text(more)) both_of
      group by key
    ) summed
  ) end
$$;
