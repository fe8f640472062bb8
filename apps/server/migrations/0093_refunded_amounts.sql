-- A refund of 'all that is left' keeps what that was, so that it does not cover what is paid later.
UPDATE "payment_refunds" f SET "amount" = coalesce(nullif(greatest(p."charged" - coalesce((
    SELECT sum(o."amount") FROM "payment_refunds" o
    WHERE o."platform_order_id" = f."platform_order_id" AND o."state" = 'counted' AND o."id" <> f."id"), 0), 0), 0), p."charged")
FROM "payments" p
WHERE p."platform_order_id" = f."platform_order_id" AND f."state" = 'counted' AND f."amount" IS NULL
  AND f."foreign_amount" IS NULL AND p."charged" > 0;
