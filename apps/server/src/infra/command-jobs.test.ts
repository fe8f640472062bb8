import { refuse } from '@netlet/contract'
import { sql } from './db/drizzle.ts'
import { describe, expect, test } from 'vitest'
import { SYSTEM } from './actor.ts'
import {
  red,
  blue,
  boss,
  db,
  published,
  ctx,
  entries,
  queued,
  leaveTraces,
  expectNoTrace,
  useCommands
} from './command.fixture.ts'
import { command, dryRun } from './command.ts'
import { ok } from './result.ts'

useCommands()

describe('jobs', () => {
  test('are sent last, by queue and key: commands that send the same ones in opposite order do not deadlock', async () => {
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
      // No deadlock made a command run twice.
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
  /** Opens when `count` callers have arrived. */
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

  test('that keeps coming back is an exception in the end', async () => {
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

  test('in a dry run is retried too, and leaves nothing behind', async () => {
    let runs = 0
    const failing = dryRun(ctx(), boss, {}, async unit => {
      runs++
      await leaveTraces(unit)
      const code = runs === 1 ? '40P01' : '40001'
      if (runs < 3) await unit.tx.execute(sql.raw(`do $$ begin raise exception using errcode = '${code}'; end $$`))
      return ok(runs)
    })
    expect(await failing).toEqual(ok(3))
    await expectNoTrace()
  })

  test('is the only failure that is retried', async () => {
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
