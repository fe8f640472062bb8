import { refuse } from '@netlet/contract'
import { sql } from './db/drizzle.ts'
import { describe, expect, test } from 'vitest'
import { SYSTEM } from './actor.ts'
import {
  NOW,
  red,
  boss,
  published,
  ctx,
  rows,
  entries,
  queued,
  insert,
  leaveTraces,
  expectNoTrace,
  useCommands
} from './command.fixture.ts'
import { command, dryRun } from './command.ts'
import { ok, type Result } from './result.ts'

useCommands()

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
    // Published only after the commit: others already see the row.
    expect(await published[0]?.visible).toEqual([1])
  })

  test('names the real actor', async () => {
    const viewing = { ...boss, id: 9, username: 'anna', impersonator: { id: 7, username: 'boss' } }
    for (const by of [viewing, { kind: 'visitor', ip: '192.0.2.9' } as const, SYSTEM]) {
      await command(ctx(), by, async unit => unit.audit('faq.edit', 'x'))
    }
    expect(await entries()).toMatchObject([
      { actor_id: 7, actor_name: 'boss', viewed_as: 'anna', ip: '192.0.2.7' },
      { actor_id: null, actor_name: 'visitor', viewed_as: null, ip: '192.0.2.9' },
      { actor_id: null, actor_name: 'system', viewed_as: null, ip: null }
    ])
    // A target without a numeric id is published without one.
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
    const failing = command(ctx(), boss, async unit => {
      await leaveTraces(unit)
      // PostgreSQL stores no such text.
      unit.jobs.send(red, { n: 1 }, { key: '\0' })
    })
    await expect(failing).rejects.toThrow()
    await expectNoTrace()
  })

  test('returns values that are no refusals unchanged', async () => {
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

  test('that is not mapped, and another violation, are exceptions', async () => {
    await add(1, 'one')
    const unnamed = command(ctx(), boss, { unique: { other_key: 'name_taken' } }, unit => insert(unit, 1))
    await expect(unnamed).rejects.toThrow()
    const negative = command(ctx(), boss, { unique: { things_n: 'name_taken' } }, ({ tx }) =>
      tx.execute(sql`update things set n = -1`)
    )
    await expect(negative).rejects.toThrow()
  })
})

describe('a rehearsal', () => {
  test('gives back what the write would come to, and leaves no trace of it', async () => {
    const seen = await dryRun(ctx(), boss, {}, async unit => {
      await leaveTraces(unit)
      const { rows: found } = await unit.tx.execute<{ id: number }>(sql`select id from things`)
      return ok(found.map(({ id }) => id))
    })
    expect(seen).toEqual({ ok: true, data: [1] })
    await expectNoTrace()
  })

  test('is refused as the write would be, also by a unique constraint', async () => {
    expect(await dryRun(ctx(), boss, {}, () => Promise.resolve(refuse('not_found')))).toEqual(refuse('not_found'))
    const twice = dryRun(ctx(), boss, { unique: { things_pkey: 'name_taken' } }, async unit => {
      await insert(unit, 1)
      await insert(unit, 1)
      return ok(null)
    })
    expect(await twice).toMatchObject({ ok: false, reason: 'name_taken' })
    await expectNoTrace()
  })
})
