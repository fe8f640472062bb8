import { constants } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { agentTraffic } from '@netlet/contract/agent'
import { AccessTable } from '../src/proxy/access-table.ts'
import { TrafficTotals } from '../src/state/traffic.ts'
import { httpTarget, lease, proxied, tempFolder, testAgent, turnsDuring, until } from './test-agent.ts'

const HOUR = 3_600_000
/** As many addresses as a /16 has, or enough to take several turns. */
const MANY = isLong ? 65_536 : 10_000
const rows = (user: string, count: number): Array<Parameters<TrafficTotals['add']>[0][number]> =>
  Array.from({ length: count }, (_, n) => ({
    user,
    ip: `127.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    up: 1,
    down: 2,
    requests: 3,
    errors: 4,
    connections: 5,
    codes: null
  }))
const saved = async (folder: string): Promise<Array<{ user: string; ip: string }>> => {
  const text = await readFile(join(folder, 'traffic.json'), 'utf8')
  return agentTraffic.parse(JSON.parse(text)).rows
}

test('many counters are saved without holding anything else up', async () => {
  const folder = await tempFolder()
  const totals = await TrafficTotals.open(folder, Date.now)
  totals.add(rows('u', MANY))
  expect(await turnsDuring(() => totals.save())).toBeGreaterThan(MANY / 1000)
  expect(await saved(folder)).toHaveLength(MANY)
  const again = await TrafficTotals.open(folder, Date.now)
  again.add(rows('u', 1))
  await again.save()
  const [first] = await saved(folder)
  expect(first).toMatchObject({ user: 'u', ip: '127.0.0.0', up: 2, down: 4, requests: 6, errors: 8 })
})

test('what is reported is on the disk, counts of the very moment included', async () => {
  const folder = await tempFolder()
  const totals = await TrafficTotals.open(folder, Date.now)
  totals.add(rows('u', MANY))
  const saving = totals.save()
  totals.add(rows('late', 1))
  const file = await totals.report()
  const told = agentTraffic.parse(JSON.parse(await file.readFile('utf8')))
  await file.close()
  await saving
  expect(told.rows.filter(row => row.user === 'late')).toHaveLength(1)
  expect(told.rows).toHaveLength(MANY + 1)
})

test('counters of leases that are gone for a day are forgotten without being asked, and no others', async () => {
  const folder = await tempFolder()
  let now = Date.parse('2026-01-01T00:00:00Z')
  const totals = await TrafficTotals.open(folder, () => now)
  const leased = new Map([
    ['stays', ['127.0.0.0/30']],
    ['gone', ['127.0.0.0/24']]
  ])
  totals.leaseOf = user => {
    const prefixes = leased.get(user)
    return prefixes && { prefixes }
  }
  totals.add(rows('stays', 8))
  totals.add(rows('gone', 8))
  await totals.save()
  leased.delete('gone')
  now += 23 * HOUR
  totals.add(rows('other', 1))
  await totals.save()
  expect(await saved(folder)).toHaveLength(17)
  now += 2 * HOUR
  totals.add(rows('other', 1))
  await totals.save()
  // The user that stays keeps the counters of its four current addresses only.
  expect((await saved(folder)).map(row => `${row.user} ${row.ip}`)).toEqual([
    'stays 127.0.0.0',
    'stays 127.0.0.1',
    'stays 127.0.0.2',
    'stays 127.0.0.3',
    'other 127.0.0.0'
  ])
})

test('an agent forgets old counters by itself', async () => {
  let now = Date.parse('2026-05-15T12:00:00Z')
  const agent = await testAgent({ world: { now: () => now, times: { collectMs: 20 } } })
  const target = await httpTarget()
  await lease(agent.call, 'gone', [`${agent.net}.1.1/32`])
  await lease(agent.call, 'stays', [`${agent.net}.1.2/32`])
  const visit = async (user: string, ip: string): Promise<void> => {
    expect((await proxied(ip, agent.proxyPort, user, `http://${target.host}/`)).status).toBe(200)
  }
  const path = join(agent.folder, 'traffic.json')
  const text = (): Promise<string> => readFile(path, 'utf8').catch(() => '')
  await visit('gone', `${agent.net}.1.1`)
  await until('the counters to be saved', async () => (await text()).includes('"gone"'))
  await agent.call('DELETE', '/api/users/gone')
  await visit('stays', `${agent.net}.1.2`)
  await until('the old ones to be gone', async () => {
    // The visit of 'gone' may be counted late: a day passes at each look.
    now += 25 * HOUR
    return (await text()).includes('"stays"') && !(await text()).includes('"gone"')
  })
})

test('an IPv6 range too large to list is counted as the one address that it is listed by', () => {
  const table = new AccessTable()
  const record = { password: 'p', prefixes: ['2001:db8:1::/64', '2001:db8:2::/120'], denySet: '', allowedClientIps: [] }
  table.apply([{ op: 'user', user: 'u', record }])
  expect(table.lease('u')?.wide.map(range => range.countedAs)).toEqual(['2001:db8:1::1'])
})

test('a file longer than a string can be is read like any other, and after an incomplete one counting starts over', async () => {
  const folder = await tempFolder()
  const path = join(folder, 'traffic.json')
  const row = (n: number): string =>
    `{"user":"u","ip":"127.0.0.${n % 256}","since":"2026-01-01T00:00:00.000Z","changed":1,"up":${n},"down":2,"requests":3,"errors":4,"seq":${n + 1}}`
  const read = async (): Promise<{ epoch: string; rows: number; up: number }> => {
    const { epoch, rows: told } = (await TrafficTotals.open(folder, Date.now)).changes({
      epoch: '',
      after: 0,
      limit: 5000
    })
    return { epoch, rows: told.length, up: told.reduce((sum, { up }) => sum + up, 0) }
  }
  await writeFile(path, `{"format":1,"epoch":"one","rows":[${row(1)},${row(2)}]}\n`)
  expect(await read()).toEqual({ epoch: 'one', rows: 2, up: 3 })
  await writeFile(path, `{"format":1,"epoch":"one","rows":[${row(1)},\n${row(2)}`)
  expect(await read()).toMatchObject({ rows: 0 })
  await writeFile(path, `{"format":1,"epoch":"one","rows":[],"quotas":[]}\n`)
  expect(await read()).toEqual({ epoch: 'one', rows: 0, up: 0 })

  // Longer than a string can be, if there is time. A pipe supplies the blanks, so they use neither disk nor memory.
  await rm(path)
  execFileSync('mkfifo', [path])
  const length = isLong ? constants.MAX_STRING_LENGTH : 20 << 20
  const blanks = Buffer.alloc(4 << 20, ' ')
  const writing = pipeline(
    Readable.from(
      (function* () {
        yield Buffer.from('{"format":1,"epoch":"long","rows":[')
        for (let n = 0, size = 0; size <= length; n++, size += blanks.length) {
          yield Buffer.from(`${n === 0 ? '' : ',\n'}${row(n)}`)
          yield blanks
        }
        yield Buffer.from('],"quotas":[]}\n')
      })()
    ),
    createWriteStream(path)
  )
  const found = await read()
  await writing
  expect(found).toMatchObject({ epoch: 'long', rows: Math.ceil((length + 1) / blanks.length) })
})
