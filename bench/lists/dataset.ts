import { Client } from 'pg'

export type Size = {
  /** Rows in each large table. */
  rows: number
  users: number
}

/** What the queries look for. Numbers are ids. */
export type Subjects = {
  /** Has 3 % of all orders, and a tenth of all point records, promo codes, logins and webhook deliveries. */
  customer: number
  /** Has as many live proxies as there are rows. */
  order: number
  orderId: string
  platformNumber: string
  email: string
  address: string
}

const TABLES = [
  'users',
  'orders',
  'order_events',
  'payments',
  'proxies',
  'audit_log',
  'point_records',
  'gift_cards',
  'lease_blocks',
  'platform_events',
  'mails',
  'tickets',
  'coupons',
  'logins',
  'webhook_deliveries',
  'notices',
  'mail_blocks',
  'server_outages'
]

/**
 * Fills a migrated, empty database: orders of 50 products with payments and leases, proxies of one order, the audit
 * log, point records, gift cards, platform events, mails, tickets, promo codes, logins, webhook deliveries, notices,
 * blocked addresses and outages.
 */
export async function fill(url: string, { rows, users }: Size, log: (line: string) => void): Promise<Subjects> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Disables triggers and foreign keys, which would check each row.
    await client.query(`set session_replication_role = replica`)
    const indexes = await client.query<{ name: string; definition: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
       where i.indrelid::regclass::text = any($1) and not i.indisunique`,
      [TABLES]
    )
    for (const { name } of indexes.rows) await client.query(`drop index ${name}`)
    for (const [what, text] of Object.entries(statements(rows, users))) {
      log(`${rows} rows: ${what}`)
      await client.query(text)
    }
    log(`${rows} rows: indexes`)
    await client.query(`set maintenance_work_mem = '512MB'`)
    for (const { definition } of indexes.rows) await client.query(definition)
    await client.query('vacuum (analyze)')
    // Write the data to disk now, not during measurements.
    await client.query('checkpoint')
    const { rows: found } = await client.query<{ order_id: string; platform_order_number: string }>(
      `select order_id, platform_order_number from orders where id = $1`,
      [Math.floor(rows / 2)]
    )
    const [middle] = found
    if (!middle) throw new Error('the orders are not there')
    return {
      customer: 1,
      order: 1,
      orderId: middle.order_id,
      platformNumber: middle.platform_order_number,
      email: `user${Math.floor(users / 2)}@example.com`,
      address: '10.0.0.77'
    }
  } finally {
    await client.end()
  }
}

function statements(rows: number, users: number): Record<string, string> {
  return {
    users: `insert into users (created_at, username, email, password_hash, invite_code, invited_by)
      select now(), case when n = ${Math.floor(users / 3)} then 'zebra.quartz' else 'user' || n end, 'user' || n || '@example.com',
        'x', 'i' || n, case when n % 10 = 0 then 1 end from generate_series(1, ${users}) n`,
    catalogue: `insert into server_groups (created_at, name) values (now(), 'here');
      insert into servers (created_at, name, ip) values (now(), 'here', '127.0.0.1');
      insert into products (created_at, platform_id, name) select now(), n::text, 'Plan ' || n from generate_series(1, 50) n;
      insert into collections (created_at, platform_id, name) values (now(), '1', 'All'), (now(), '2', 'One');
      insert into product_collections (product_id, collection_id) select n, 1 from generate_series(1, 50) n;
      insert into product_collections (product_id, collection_id) values (7, 2);
      insert into variants (created_at, product_id, platform_id, name, price) select now(), n, n::text, 'Here', 2 from generate_series(1, 50) n;
      insert into order_product_names (name) select 'Residential plan ' || n from generate_series(1, 49) n
        union all select 'Quartz special'`,
    // 3 % belong to the first user; a fifth is unpaid; one in 2,000 failed; the rare product occurs 5 times.
    orders: `insert into orders (order_id, user_id, product_id, variant_id, server_group_id, state, product_name, variant_name,
        quantity, cart_step, proxy_time, variant_price, acl_price, amount, rules, platform_order_id, platform_order_number,
        reserved_until, created_at, paid_at, delivered_at, pay_amount, expired_at, proxy_username, proxy_password, delivery_num)
      select 'NL-' || upper(substr(translate(encode(sha256(n::text::bytea), 'base64'), '+/=', 'abc'), 1, 16)),
        case when n % 33 = 0 then 1 else 2 + (n * 7919::bigint) % (${users} - 1) end, product, product, 1, state,
        case product when 50 then 'Quartz special' else 'Residential plan ' || product end, 'Here',
        8, 8, 30, price, 0.5, 8 * (price + 0.5), array[1], case when paid then (5000000000000 + n)::text end,
        case when paid then '#' || (1000 + n) end, now(), at, case when paid then at end,
        case when paid and state <> 'failed' then at + interval '1 minute' end,
        case when paid then 8 * (price + 0.5) end, case when paid then at + interval '30 days' end, 'p' || n, 'x',
        case when paid and state <> 'failed' then 8 else 0 end
      from (select n, n % 5 <> 0 as paid, now() - (${rows} - n) * interval '1 minute' as at, 1 + n % 97 as price,
          case when n % ${Math.floor(rows / 5)} = 3 then 50 when n % 2 = 0 then 1 else 2 + n % 48 end as product,
          case when n % 5 = 0 then 'timed_out' when n % 2000 = 1 then 'failed' when n < ${rows} * 0.9 then 'expired'
            else 'delivered' end as state
        from generate_series(1, ${rows}) n) made`,
    // Each is delivered a minute after its payment.
    'order events': `insert into order_events (order_id, kind, at)
      select id, kind, at from (select id, 'placed' as kind, created_at as at from orders
        union all select id, 'pay', paid_at from orders where paid_at is not null
        union all select id, 'deliver_all', paid_at + interval '1 minute' from orders where delivery_num > 0) told order by at`,
    payments: `insert into payments (order_id, user_id, platform_order_id, platform_order_number, kind, amount, discount, accepted, created_at)
      select id, user_id, platform_order_id, platform_order_number, 'purchase', pay_amount, 0, true, paid_at from orders where paid_at is not null`,
    figures: `insert into order_figures (day, orders, paid, revenue)
      select (created_at at time zone 'UTC')::date, count(*), count(paid_at), coalesce(sum(pay_amount), 0) from orders group by 1`,
    leases: `insert into cidrs (created_at, cidr) values (now(), '10.0.0.0/8');
      insert into chunks (cidr_id, base, size) select 1, '10.0.0.0'::inet + n * 4096, 4096 from generate_series(0, ${Math.ceil(rows / 4096)}) n;
      insert into leases (created_at, order_id, group_id, step, rules, blocks, state, activated_at)
        select now(), n, 1, 8, array[1], 1, 'active', now() from generate_series(1, ${Math.floor(rows / 8)}) n;
      insert into lease_blocks (leased_at, lease_id, chunk_id, start, length, rules)
        select clock_timestamp(), n, 1 + (n - 1) / 512, 8 * ((n - 1) % 512), 8, array[1] from generate_series(1, ${Math.floor(rows / 8)}) n`,
    proxies: `insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state)
      select now(), now(), 1, 1, 1, '10.0.0.0'::inet + n, 'live' from generate_series(1, ${rows}) n`,
    'audit log': `insert into audit_log (at, actor_id, actor_name, action, target_type, target_id)
      select now(), 1, case when n = ${Math.floor(rows / 3)} then 'quetzal' when n % 10 < 4 then 'boss' when n % 10 = 4 then 'alice' else 'system' end,
        (array['order', 'user', 'gift_card', 'server'])[1 + n % 4] || (array['.create', '.edit', '.delete'])[1 + n % 3],
        (array['order', 'user', 'gift_card', 'server'])[1 + n % 4], (n / 4)::text from generate_series(1, ${rows}) n`,
    'point records': `insert into point_records (created_at, user_id, kind, point, reason_code, cause)
      select now(), case when n % 10 = 0 then 1 else 2 + n % (${users} - 1) end, 'level', n % 100, 'payment', 'c' || n
      from generate_series(1, ${rows}) n`,
    'gift cards': `insert into gift_cards (created_at, mount, point, code, is_exchanged, exchanged_by)
      select now(), 1 + n % 50, n % 1000, 'GIFT-' || upper(substr(md5(n::text), 1, 12)), n % 3 = 0, case when n % 3 = 0 then 1 end
      from generate_series(1, ${rows}) n`,
    // A tenth is not about money; five are unhandled. The rare outcome is in the oldest half, far from the newest.
    'platform events': `insert into platform_events (event_id, topic, payload, received_at, processed_at, outcome, needs_hand,
        platform_order_id, platform_order_name)
      select 'e' || n, case when n % 10 = 3 then 'products/update' else 'orders/paid' end, '{}',
        now() - (${rows} - n) * interval '1 minute', case when n % ${Math.floor(rows / 5)} = 2 then null else now() end, case when n % 10 = 3 then null
          when n < ${rows} / 2 and n % 20000 = 1 then 'dispute_won' when n % 500 = 1 then 'unknown_order' else 'settled' end,
        n % 500 = 1, (case when n % 500 = 1 then 9 else 5 end * 1000000000000 + n)::text, '#' || (1000 + n) from generate_series(1, ${rows}) n`,
    mails: `insert into mails (key, "to", template, kind, language, state, error_code, job_id, claimed_at, created_at)
      select 'received:' || n, 'user' || 1 + n % ${users} || '@example.com', 'order-received', 'payments', 'en',
        case when n % 5000 = 1 then 'failed' else 'sent' end, case when n % 5000 = 1 then 'rejected' end, 'j' || n, now(),
        now() - (${rows} - n) * interval '1 minute' from generate_series(1, ${rows}) n`,
    tickets: `insert into tickets (username, email, phone, message, state, created_at)
      select 'user' || 1 + n % ${users}, 'user' || 1 + n % ${users} || '@example.com', '', case when n = ${Math.floor(rows / 3)}
          then 'Where is the quetzal?' else 'My addresses do not work since ' || n end,
        case when n % 2000 = 1 then 'open' else 'closed' end, now() - (${rows} - n) * interval '1 minute'
      from generate_series(1, ${rows}) n`,
    'promo codes': `insert into coupons (created_at, holder_id, code, code_type, discount, is_used, platform_state)
      select now(), case when n % 10 = 0 then 1 else 2 + n % (${users} - 1) end, 'SAVE-' || upper(substr(md5(n::text), 1, 12)), 1 + n % 2, 1 + n % 20,
        n % 3 = 0, case when n % 5000 = 1 then 'missing' else 'present' end from generate_series(1, ${rows}) n`,
    'log-ins': `insert into logins (user_id, at, method, ip, country, device)
      select case when n % 10 = 0 then 1 else 2 + n % (${users} - 1) end, now() - (${rows} - n) * interval '30 seconds', 'password',
        '10.0.0.0'::inet + n, 'NL', 'Firefox on Linux' from generate_series(1, ${rows}) n`,
    // One endpoint in ten belongs to the first user; one delivery in 5,000 failed.
    'webhook deliveries': `insert into webhook_endpoints (created_at, user_id, url, description, events, secret)
        select now(), case when n % 10 = 0 then 1 else 1 + n end, 'https://example.com/hooks/' || n, '', array['order.delivered'], 'x'
        from generate_series(1, 100) n;
      insert into webhook_events (at, public_id, type, data) select now(), 'evt_' || n, 'order.delivered', '{}' from generate_series(1, 100) n;
      insert into webhook_deliveries (event_id, endpoint_id, type, state, tries, status, next_at, expires_at, created_at, ended_at)
      select 1 + n % 100, 1 + n % 100, case when n % 4 = 0 then 'order.expired' else 'order.delivered' end,
        case when n % 5000 = 1 then 'failed' else 'sent' end, 1, 200, at, at + interval '3 days', at, at
      from (select n, now() - (${rows} - n) * interval '1 minute' as at from generate_series(1, ${rows}) n) made`,
    notices: `insert into notices (created_at, cause, subject, severity, words, params, since, seen_at, changed_at, closed_at)
      select now(), case when n % 5000 = 1 then 'token' else 'server_down' end, n::text, case when n % 5000 = 1 then 'critical' else 'warning' end,
        'server_down', jsonb_build_object('server', case when n = ${Math.floor(rows / 3)} then 'quetzal' else 'server ' || n end), at, at, at,
        case when n > ${rows} - 20 then null else at end
      from (select n, now() - (${rows} - n) * interval '1 minute' as at from generate_series(1, ${rows}) n) made`,
    'blocked addresses': `insert into mail_blocks (address, cause, reason, source, at, active)
      select 'user' || n || '@example.com', case when n % 5000 = 1 then 'complained' else 'bounced' end, '550 no such user', 'smtp', now(), true
      from generate_series(1, ${rows}) n`,
    // Outages of a server with a thousand of the newest orders.
    outages: `insert into servers (created_at, name, ip) values (now(), 'there', '127.0.0.2');
      insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state, live_at)
      select now(), now(), ${rows} - n / 8, 1, 2, '11.0.0.0'::inet + n, 'live', now() - interval '2 days' from generate_series(1, ${8 * Math.min(1000, rows - 1)}) n;
      insert into server_outages (created_at, server_id, started_at, ended_at)
      select now(), 2, at, at + interval '20 seconds' from
        (select now() - (${rows} - n + 1) * interval '1 minute' as at from generate_series(1, ${rows}) n) made`
  }
}
