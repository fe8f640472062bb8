-- The functions of this domain as they are now: applied after the migrations whenever this file changed. A function whose arguments
-- or result change is dropped by a migration first.

-- Figures of orders: every change inserts a delta, so that no change waits for another (docs/adr/kept-figures.md).
CREATE OR REPLACE FUNCTION order_figures_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT (created_at AT TIME ZONE 'UTC')::date, count(*), count(paid_at) FROM added WHERE deleted_at IS NULL GROUP BY 1;
  -- Looked up first: only a name that is new could make two orders wait for each other.
  INSERT INTO order_product_names (name)
  SELECT DISTINCT product_name FROM added
  WHERE NOT EXISTS (SELECT 1 FROM order_product_names n WHERE n.name = added.product_name)
  ORDER BY 1 ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION order_figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT day, sum(orders), sum(paid) FROM (VALUES
    ((OLD.created_at AT TIME ZONE 'UTC')::date, -1, -(OLD.paid_at IS NOT NULL)::int, OLD.deleted_at IS NULL),
    ((NEW.created_at AT TIME ZONE 'UTC')::date, 1, (NEW.paid_at IS NOT NULL)::int, NEW.deleted_at IS NULL)
  ) v (day, orders, paid, listed) WHERE listed GROUP BY day HAVING sum(orders) <> 0 OR sum(paid) <> 0;
  IF (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) THEN
    INSERT INTO order_figure_deltas (day, revenue)
    SELECT (coalesce(paid_at, created_at) AT TIME ZONE 'UTC')::date,
      sum((amount - refunded_amount) * CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END)
    FROM payments WHERE order_id = NEW.id AND accepted GROUP BY 1;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION order_figures_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT (created_at AT TIME ZONE 'UTC')::date, -count(*), -count(paid_at) FROM removed WHERE deleted_at IS NULL GROUP BY 1;
  RETURN NULL;
END $$;

-- Revenue is what was paid less what was given back.
CREATE OR REPLACE FUNCTION order_figures_earned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (coalesce(p.paid_at, p.created_at) AT TIME ZONE 'UTC')::date, sum(p.amount - p.refunded_amount) FROM added p JOIN (
    SELECT id FROM orders WHERE id IN (SELECT order_id FROM added WHERE accepted) AND deleted_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  ) o ON o.id = p.order_id WHERE p.accepted GROUP BY 1;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION order_figures_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM orders WHERE id IN (OLD.order_id, NEW.order_id) ORDER BY id FOR NO KEY UPDATE;
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (v.at AT TIME ZONE 'UTC')::date, v.amount FROM (VALUES
    (OLD.order_id, coalesce(OLD.paid_at, OLD.created_at), OLD.refunded_amount - OLD.amount, OLD.accepted),
    (NEW.order_id, coalesce(NEW.paid_at, NEW.created_at), NEW.amount - NEW.refunded_amount, NEW.accepted)
  ) v (order_id, at, amount, accepted)
  JOIN orders o ON o.id = v.order_id WHERE v.accepted AND o.deleted_at IS NULL;
  RETURN NULL;
END $$;
