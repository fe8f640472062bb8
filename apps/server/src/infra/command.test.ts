import { refuse } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { SYSTEM, type UserActor } from './actor.ts'
import { openChangeFeed, type ChangeFeed, type Published } from './change-feed.ts'
import { command, type Unit } from './command.ts'
import { closeDatabase, openDatabase, type Database } from './db/client.ts'
import { openJobs, queue, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'
import { ok, type Result } from './result.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const [red, blue] = [queue<{ n: number }>('test.red'), queue<{ n: number }>('test.blue')]
const boss: UserActor = {
  kind: 'user',
  id: 7,
  username: 'boss',
  isSuperuser: true,
  ip: '192.0.2.7',
  sessionHash: null,
  impersonator: null,
  scopes: null
}

let database: TestDatabase
let db: Database
let jobs: Jobs
let feed: ChangeFeed
/** What was published, and which rows others could see at that moment. */
let published: { changes: Published[]; visible: Promise<number[]> }[] = []
const ctx = () => ({
  db,
  jobs,
  now: () => NOW,
  changes: {
    ...feed,
    publish(changes: Published[]) {
      if (changes.length > 0) published.push({ changes, visible: rows() })
    }
  }
})

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 12 })
  const log = createLog('test', 'silent')
  jobs = await openJobs({ databaseUrl: database.url, worker: false, log, queues: [red, blue] })
  feed = await openChangeFeed({ databaseUrl: database.url, db, log })
  await db.execute(sql`create table things (id int primary key, name text, n int not null default 0,
    constraint things_name_key unique (name), constraint things_n check (n >= 0))`)
})
beforeEach(async () => {
  published = []
  await db.execute(sql`truncate things, audit_log`)
  await db.execute(sql`delete from pgboss.job where name like 'test.%'`)
})
afterAll(async () => {
  await feed?.stop()
  await jobs?.stop()
  await closeDatabase(db)
  await database.drop()
})

async function rows(): Promise<number[]> {
  const found = await db.execute<{ id: number }>(sql`select id from things order by id`)
  return found.rows.map(({ id }) => id)
}
async function entries(): Promise<Record<string, unknown>[]> {
  const found = await db.execute(sql`select actor_id, actor_name, viewed_as, host(ip) as ip, action, target_type,
    target_id, before, after from audit_log order by id`)
  return found.rows
}
async function queued(): Promise<unknown[]> {
  const found = await db.execute<{ name: string; n: number }>(
    sql`select name, (data->>'n')::int as n from pgboss.job where name like 'test.%' order by name, n`
  )
  return found.rows.map(({ name, n }) => [name, n])
}
const insert = ({ tx }: Unit, id: number, name = `thing ${id}`) =>
  tx.execute(sql`insert into things (id, name) values (${id}, ${name})`)

/** Does a bit of everything that leaves a trace. */
async function leaveTraces(unit: Unit): Promise<void> {
  unit.audit('faq.create', 1, { after: { question: 'Why?' } })
  unit.jobs.send(red, { n: 1 })
  unit.publish('order', 5, 3)
  await insert(unit, 1)
}
async function expectNoTrace(): Promise<void> {
  expect({ rows: await rows(), entries: await entries(), queued: await queued(), published }).toEqual({
    rows: [],
    entries: [],
    queued: [],
    published: []
  })
}

describe('a command', () => {
  test('writes rows, audit entries and jobs together, and publishes what changed', async () => {
    const result = await command(ctx(), boss, async unit => {
      expect(unit).toMatchObject({ now: NOW, by: boss })
      await leaveTraces(unit)
      return ok('data')
    })
    expect(result).toEqual({ ok: true, data: 'data' })
    expect(await rows()).toEqual([1])
    expect(await entries()).toEqual([
      {
        actor_id: 7,
        actor_name: 'boss',
        viewed_as: null,
        ip: '192.0.2.7',
        action: 'faq.create',
        target_type: 'faq',
        target_id: '1',
        before: null,
        after: { question: 'Why?' }
      }
    ])
    expect(await queued()).toEqual([['test.red', 1]])
    const changes = [
      { resource: 'faq', id: 1 },
      { resource: 'order', id: 5, userId: 3 }
    ]
    expect(published.map(one => one.changes)).toEqual([changes])
    // Not before the commit: others see the row by then.
    expect(await published[0]?.visible).toEqual([1])
  })

  test('names who really acted', async () => {
    const viewing = { ...boss, id: 9, username: 'anna', impersonator: { id: 7, username: 'boss' } }
    for (const by of [viewing, { kind: 'visitor', ip: '192.0.2.9' } as const, SYSTEM]) {
      await command(ctx(), by, async unit => unit.audit('faq.edit', 'x'))
    }
    expect(await entries()).toMatchObject([
      { actor_id: 7, actor_name: 'boss', viewed_as: 'anna', ip: '192.0.2.7' },
      { actor_id: null, actor_name: 'visitor', viewed_as: null, ip: '192.0.2.9' },
      { actor_id: null, actor_name: 'system', viewed_as: null, ip: null }
    ])
    // What has no number of its own is published without one.
    expect(published[0]?.changes).toEqual([{ resource: 'faq' }])
  })

  test('that is refused leaves nothing behind', async () => {
    const refusal = refuse('conflict', { data: { why: 'because' } })
    const result = await command(ctx(), boss, async (unit): Promise<Result<null>> => {
      await leaveTraces(unit)
      return refusal
    })
    expect(result).toEqual(refusal)
    await expectNoTrace()
  })

  test('that throws leaves nothing behind', async () => {
    const failing = command(ctx(), boss, async unit => {
      await leaveTraces(unit)
      throw new Error('a bug')
    })
    await expect(failing).rejects.toThrow('a bug')
    await expectNoTrace()
  })

  test('whose job or audit entry cannot be written leaves nothing behind', async () => {
    const unknown = queue<{ n: number }>('test.nobody-made-it')
    const failing = command(ctx(), boss, async unit => {
      await leaveTraces(unit)
      unit.jobs.send(unknown, { n: 1 })
    })
    await expect(failing).rejects.toThrow()
    await expectNoTrace()
  })

  test('takes plain values for what they are', async () => {
    expect(await command(ctx(), SYSTEM, async () => undefined)).toBeUndefined()
    expect(await command(ctx(), SYSTEM, async () => null)).toBeNull()
    expect(await command(ctx(), SYSTEM, async () => ({ ok: false }))).toEqual({ ok: false })
    expect(published).toEqual([])
  })
})

describe('a unique violation', () => {
  const unique = {
    things_name_key: 'name_taken',
    things_pkey: refuse('conflict', { msg: 'That number is taken' })
  } as const
  const add = (id: number, name: string) =>
    command(ctx(), boss, { unique }, async unit => {
      unit.audit('faq.create', id)
      unit.jobs.send(red, { n: id })
      await insert(unit, id, name)
      return ok(id)
    })

  test('is the refusal that the table names, and undoes the rest', async () => {
    expect(await add(1, 'one')).toEqual(ok(1))
    expect(await add(2, 'one')).toEqual(refuse('name_taken'))
    expect(await add(1, 'two')).toEqual(unique.things_pkey)
    expect(await rows()).toEqual([1])
    expect(await entries()).toHaveLength(1)
    expect(await queued()).toEqual([['test.red', 1]])
    expect(published).toHaveLength(1)
  })

  test('of many that come at once all but one are refused', async () => {
    const results = await Promise.all(Array.from({ length: 10 }, (_, at) => add(at, 'the same')))
    expect(results.filter(({ ok: isOk }) => isOk)).toHaveLength(1)
    expect(results.filter(result => !result.ok && result.reason === 'name_taken')).toHaveLength(9)
  })

  test('that nobody named, and another violation, are exceptions', async () => {
    await add(1, 'one')
    const unnamed = command(ctx(), boss, { unique: { other_key: 'name_taken' } }, unit => insert(unit, 1))
    await expect(unnamed).rejects.toThrow()
    const negative = command(ctx(), boss, { unique: { things_n: 'name_taken' } }, ({ tx }) =>
      tx.execute(sql`update things set n = -1`)
    )
    await expect(negative).rejects.toThrow()
  })
})

describe('jobs', () => {
  test('leave at the end, by queue and key: commands that send the same in opposite order do not meet', async () => {
    const keys = Array.from({ length: 40 }, (_, at) => at)
    let runs = 0
    const send = (order: number[]) =>
      command(ctx(), SYSTEM, async unit => {
        runs++
        for (const n of order) unit.jobs.send(n % 2 ? red : blue, { n }, { key: String(n) })
      })
    for (let round = 1; round <= 5; round++) {
      await db.execute(sql`delete from pgboss.job where name like 'test.%'`)
      await Promise.all([send(keys), send(keys.toReversed()), send(keys), send(keys.toReversed())])
      // Nobody was chosen to end a deadlock.
      expect(runs).toBe(4 * round)
      expect(await queued()).toHaveLength(40)
    }
  })

  test('with the same key wait once in their queue', async () => {
    for (let twice = 0; twice < 2; twice++) {
      await command(ctx(), SYSTEM, async unit => {
        unit.jobs.send(red, { n: 1 }, { key: 'a' })
        unit.jobs.send(red, { n: 2 }, { key: 'a' })
        unit.jobs.send(blue, { n: 3 }, { key: 'a' })
      })
    }
    expect(await queued()).toEqual([
      ['test.blue', 3],
      ['test.red', 1]
    ])
  })
})

describe('a deadlock', () => {
  /** Opens when `count` have come. */
  function barrier(count: number): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    let come = 0
    return async () => {
      if (++come >= count) resolve(undefined)
      await promise
    }
  }

  test('is tried again: both succeed, and each leaves its traces once', async () => {
    await db.execute(sql`insert into things (id, name) values (1, 'one'), (2, 'two')`)
    const bothHaveOne = barrier(2)
    let runs = 0
    const takeBoth = (first: number, second: number) =>
      command(ctx(), boss, async unit => {
        runs++
        unit.audit('faq.edit', first)
        unit.jobs.send(red, { n: first }, { key: String(first) })
        unit.publish('order', first)
        for (const id of [first, second]) {
          await unit.tx.execute(sql`update things set n = n + 1 where id = ${id}`)
          await bothHaveOne()
        }
        return ok(first)
      })
    expect(await Promise.all([takeBoth(1, 2), takeBoth(2, 1)])).toEqual([ok(1), ok(2)])
    expect(runs).toBeGreaterThan(2)
    const { rows: counted } = await db.execute<{ n: number }>(sql`select n from things order by id`)
    expect(counted).toEqual([{ n: 2 }, { n: 2 }])
    expect(new Set((await entries()).map(entry => entry['target_id']))).toEqual(new Set(['1', '2']))
    expect(await entries()).toHaveLength(2)
    expect(await queued()).toEqual([
      ['test.red', 1],
      ['test.red', 2]
    ])
    expect(published.flatMap(one => one.changes)).toHaveLength(4)
  })

  test('that comes again and again is an exception in the end', async () => {
    let runs = 0
    const failing = command(ctx(), boss, async unit => {
      runs++
      await leaveTraces(unit)
      await unit.tx.execute(sql`do $$ begin raise exception using errcode = '40P01'; end $$`)
    })
    await expect(failing).rejects.toThrow()
    expect(runs).toBe(4)
    await expectNoTrace()
  })

  test('a refusal or another failure is not tried again', async () => {
    let runs = 0
    await command(ctx(), boss, async () => {
      runs++
      return refuse('conflict')
    })
    await command(ctx(), boss, async () => {
      runs++
      throw new Error('no')
    }).catch(() => undefined)
    expect(runs).toBe(2)
  })
})
