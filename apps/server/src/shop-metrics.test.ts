import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttpApp } from './app.ts'
import { MINUTE } from './infra/clock.ts'
import { sql } from './infra/db/drizzle.ts'
import { timedJob } from './infra/metrics.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'

const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url))

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp })
})
afterAll(() => shop?.close())

/** Later than the read that scrapes share. */
const readLater = () => {
  shop.advance(MINUTE)
  return read('/metrics/shop')
}
const read = async (path: string) => (await fetch(`${shop.url}${path}`)).text()
/** The value of a sample; undefined if there is none. */
const valueOf = (text: string, sample: string) => {
  const line = text.split('\n').find(one => one.startsWith(`${sample} `))
  return line === undefined ? undefined : Number(line.slice(sample.length + 1))
}

test('the figures of the shop are read from its database', async () => {
  await shop.ctx.db.execute(sql`insert into pgboss.job (name, data, start_after) values
    ('send-mail', '{}', now() - interval '100 seconds')`)
  const text = await read('/metrics/shop')
  expect(valueOf(text, 'netlet_metrics_unread')).toBe(0)
  expect(valueOf(text, 'netlet_jobs_waiting{queue="send-mail"}')).toBe(1)
  expect(valueOf(text, 'netlet_jobs_oldest_seconds{queue="send-mail"}')).toBeGreaterThan(90)
  expect(valueOf(text, 'netlet_mails_waiting')).toBe(1)
  expect(valueOf(text, 'netlet_servers{state="unreachable"}')).toBe(0)
  expect(valueOf(text, 'netlet_orders_undelivered')).toBe(0)
})

test('the invariants are checked beside the scrapes', async () => {
  const none = /^netlet_invariant_violations\{invariant="addresses leased twice"\} 0$/m
  await expect.poll(readLater).toMatch(none)
  const text = await read('/metrics/shop')
  expect(valueOf(text, 'netlet_invariants_checked_timestamp_seconds')).toBeGreaterThan(0)
})

test('a job is counted by its outcome', async () => {
  await timedJob('counted', async () => {})
  await expect(timedJob('counted', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  const text = await read('/metrics')
  expect(valueOf(text, 'netlet_job_seconds_count{queue="counted",outcome="done"}')).toBe(1)
  expect(valueOf(text, 'netlet_job_seconds_count{queue="counted",outcome="failed"}')).toBe(1)
  expect(valueOf(text, 'netlet_database_connections_max')).toBe(10)
})

test('each figure that an alert or the dashboard asks for is there', async () => {
  await expect.poll(readLater).toContain('netlet_invariant_violations')
  const texts = `${await read('/metrics')}\n${await read('/metrics/shop')}`
  const families = new Set([...texts.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name))
  const files = globSync(['prometheus/netlet-rules.yml', 'grafana/netlet.json'], { cwd: deploy })
  const asked = files.flatMap(file => [
    ...readFileSync(`${deploy}/${file}`, 'utf8').matchAll(/\b(?:netlet|nodejs|process)_[a-z0-9_]+/g)
  ])
  const names = new Set(asked.map(([name]) => name.replace(/_(?:bucket|count|sum)$/, '')))
  expect(names.size).toBeGreaterThan(20)
  expect([...names].filter(name => !families.has(name))).toEqual([])
})
