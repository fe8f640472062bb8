import { createHash } from 'node:crypto'
import { appendFile, copyFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { putPrefixes, putUser } from '../src/state/commands.ts'
import { Journal } from '../src/state/journal.ts'
import type { Op } from '../src/state/definitions.ts'
import { Store } from '../src/state/store.ts'
import { tempFolder } from './test-agent.ts'

async function open(folder: string, published: Op[][] = []): Promise<Store> {
  const opened = await Store.open(folder, {
    publish: ops => Promise.resolve(void published.push(ops)),
    writeFailed: () => {}
  })
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

const body = (n: number): Parameters<typeof putUser>[1] => ({
  password: `password${n}`,
  prefixes: [`127.9.${n >> 8}.${n & 255}/32`],
  denied_domains: [`d${n % 3}.test`],
  allowed_client_ips: []
})
const users = (store: Store): Promise<string[]> => store.read(state => [...state.users.keys()].toSorted())

test('many changes at once are one version after the other, share the disk, and are all there after a restart', async () => {
  const folder = await tempFolder()
  const published: Op[][] = []
  const store = await open(folder, published)
  await store.change(putPrefixes(['127.9.0.0/16']))
  const outcomes = await Promise.all(Array.from({ length: 500 }, (_, n) => store.change(putUser(`u${n}`, body(n)))))
  expect(outcomes.every(outcome => outcome.ok)).toBe(true)
  expect(published.length).toBeLessThan(20)
  const before = await store.read(state => [...state.users])
  await store.close()
  const again = await open(folder)
  expect(await again.read(state => [...state.users])).toEqual(before)
  expect(await again.read(state => state.denySets.size)).toBe(3)
  expect(again.epoch).toBe(store.epoch)
  await again.close()
})

test('a file cut at any byte of its last line loses that change only', async () => {
  const folder = await tempFolder()
  const store = await open(folder)
  await store.change(putPrefixes(['127.9.0.0/16']))
  await store.change(putUser('first', body(1)))
  const whole = (await stat(join(folder, 'state.journal'))).size
  await store.change(putUser('second', body(2)))
  await store.close()
  const full = (await stat(join(folder, 'state.journal'))).size
  await copyFile(join(folder, 'state.journal'), join(folder, 'copy'))
  for (let size = whole; size < full; size += 7) {
    await copyFile(join(folder, 'copy'), join(folder, 'state.journal'))
    await truncate(join(folder, 'state.journal'), size)
    const cut = await open(folder)
    expect(await users(cut)).toEqual(['first'])
    // The next change is written behind the last whole line.
    await cut.change(putUser('third', body(3)))
    await cut.close()
    const after = await open(folder)
    expect(await users(after)).toEqual(['first', 'third'])
    await after.close()
  }
})

test('a last line of rubbish is left out, damage before it is refused with what to do', async () => {
  const folder = await tempFolder()
  const store = await open(folder)
  await store.change(putPrefixes(['127.9.0.0/16']))
  await store.change(putUser('first', body(1)))
  await store.close()
  const path = join(folder, 'state.journal')
  await appendFile(path, `\0\0\0\0 half written\n`)
  const healed = await open(folder)
  expect(await users(healed)).toEqual(['first'])
  await healed.close()
  const bytes = await readFile(path)
  bytes[Math.floor(bytes.length / 2)] = 0
  await writeFile(path, Buffer.concat([bytes, Buffer.from('00000000 {}\n')]))
  const refused = await Store.open(folder, { publish: () => Promise.resolve(), writeFailed: () => {} })
  expect(refused).toMatchObject({ ok: false, message: expect.stringMatching(/damaged at line \d+.*backup/) })
})

test('a disk that fails takes the change back, tells the caller, and goes on when it works again', async () => {
  const folder = await tempFolder()
  const published: Op[][] = []
  const store = await open(folder, published)
  await store.change(putPrefixes(['127.9.0.0/16']))
  await store.change(putUser('first', body(1)))
  const count = published.length
  const full = vi.spyOn(Journal.prototype, 'append').mockRejectedValueOnce(new Error('ENOSPC'))
  const failed = await store.change(putUser('first', { ...body(1), password: 'changed' }))
  full.mockRestore()
  expect(failed).toEqual({ ok: false, reason: 'notDurable' })
  expect(published).toHaveLength(count)
  expect(await store.read(state => state.users.get('first')?.password)).toBe('password1')
  expect((await store.change(putUser('second', body(2)))).ok).toBe(true)
  await store.close()
  const again = await open(folder)
  expect(await users(again)).toEqual(['first', 'second'])
  await again.close()
})

test('after a failed write nothing counts as kept until the disk takes something again, though it changes nothing', async () => {
  const store = await open(await tempFolder())
  await store.change(putPrefixes(['127.9.0.0/16']))
  const full = vi.spyOn(Journal.prototype, 'append').mockRejectedValue(new Error('ENOSPC'))
  const refused = { ok: false, reason: 'notDurable' }
  expect((await store.change(putPrefixes(['127.9.0.0/16']))).ok).toBe(true)
  expect(await store.change(putUser('first', body(1)))).toEqual(refused)
  expect(await store.change(putPrefixes(['127.9.0.0/16']))).toEqual(refused)
  expect(await store.change(putPrefixes(['not a range']))).toMatchObject({ ok: false, reason: 'badPrefix' })
  expect(await store.read(state => state.prefixes)).toEqual(['127.9.0.0/16'])
  full.mockRestore()
  expect((await store.change(putPrefixes(['127.9.0.0/16']))).ok).toBe(true)
  expect((await store.change(putUser('first', body(1)))).ok).toBe(true)
  await store.close()
})

test('a folder of an agent before exceptions is read as it is, and exceptions survive a rewrite of the file', async () => {
  const folder = await tempFolder()
  const hash = createHash('sha256').update('d1.test').digest('hex')
  const user = { password: 'password1', prefixes: ['127.9.0.1/32'], denySet: hash, allowedClientIps: [] }
  const lines = [
    { format: 1, epoch: '0011223344556677', version: 0 },
    { version: 1, ops: [{ op: 'prefixes', prefixes: ['127.9.0.0/16'] }] },
    {
      version: 2,
      ops: [
        { op: 'deny-set', hash, domains: ['d1.test'] },
        { op: 'user', user: 'old', record: user }
      ]
    }
  ].map(value => JSON.stringify(value))
  const sealed = lines.map(json => `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`)
  await writeFile(join(folder, 'state.journal'), sealed.join(''))
  const store = await open(folder)
  const same = await store.change(putUser('old', body(1)))
  expect(same.ok && same.version).toBe(2)
  expect(await store.read(state => state.denySets.get(hash)?.toSorted())).toEqual(['d1.test'])
  const lists = { denied_domains: ['wide.test'], allowed_domains: ['open.wide.test'] }
  await store.change(putUser('new', { ...body(2), ...lists }))
  const stored = ['!open.wide.test', 'wide.test']
  expect(await store.read(state => state.denySets.get(state.users.get('new')?.denySet ?? '')?.toSorted())).toEqual(
    stored
  )
  for (let n = 0; n < 40; n++) {
    const denied_domains = Array.from({ length: 5000 }, (_, i) => `site${n}-${i}.example.com`)
    await store.change(putUser('third', { ...body(3), denied_domains }))
  }
  await store.close()
  const again = await open(folder)
  expect(await again.read(state => state.denySets.get(state.users.get('new')?.denySet ?? '')?.toSorted())).toEqual(
    stored
  )
  await again.close()
})

test('a put says the same again without a new version', async () => {
  const folder = await tempFolder()
  const store = await open(folder)
  await store.change(putPrefixes(['127.9.0.0/16']))
  const first = await store.change(putUser('one', body(1)))
  const second = await store.change(putUser('one', body(1)))
  expect(first.ok && second.ok && first.version === second.version).toBe(true)
  await store.close()
})

// Measures CPU time.
if (isLong)
  test('with 10,000 users a put stays quick', async () => {
    const folder = await tempFolder()
    const store = await open(folder)
    await store.change(putPrefixes(['127.9.0.0/16']))
    await Promise.all(Array.from({ length: 10_000 }, (_, n) => store.change(putUser(`u${n}`, body(n)))))
    const used = process.cpuUsage()
    for (let n = 0; n < 50; n++) await store.change(putUser(`u${n}`, { ...body(n), password: `again${n}` }))
    const { user, system } = process.cpuUsage(used)
    // Far above the usual time, so that the test fails only if a put walks all users.
    expect((user + system) / 50 / 1000).toBeLessThan(20)
    await store.close()
  })
