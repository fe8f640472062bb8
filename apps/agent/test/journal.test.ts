import { mkdir, open, readdir, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { deleteUser, putPrefixes, putUser } from '../src/state/commands.ts'
import { Store } from '../src/state/store.ts'
import { agentProcess } from './process.ts'
import { caller, tempFolder, until } from './test-agent.ts'

const MB = 1 << 20

async function openStore(folder: string): Promise<{ store: Store; failures: unknown[] }> {
  const failures: unknown[] = []
  const opened = await Store.open(folder, {
    publish: () => Promise.resolve(),
    writeFailed: error => failures.push(error)
  })
  if (!opened.ok) throw new Error(opened.message)
  return { store: opened.store, failures }
}

/** A user with a unique deny list of about a megabyte, in few names. */
const heavy = (n: number): Parameters<typeof putUser>[1] => ({
  password: 'secret',
  prefixes: ['127.9.0.1/32'],
  denied_domains: Array.from(
    { length: 4500 },
    (_, m) => `site-${m}.number-${n}.${'long-label.'.repeat(19)}example.com`
  ),
  allowed_client_ips: []
})
const sizeOf = async (folder: string): Promise<number> => (await stat(join(folder, 'state.journal'))).size

test('the file stays a small multiple of what it says, over any number of changes and restarts', async () => {
  const folder = await tempFolder()
  let n = 0
  let largest = 0
  for (let restart = 0; restart < (isLong ? 6 : 2); restart++) {
    const { store } = await openStore(folder)
    await store.change(putPrefixes(['127.9.0.0/16']))
    for (let round = 0; round < 4; round++) {
      expect((await store.change(putUser('u', heavy(n++)))).ok).toBe(true)
      largest = Math.max(largest, await sizeOf(folder))
    }
    await store.close()
  }
  const { store } = await openStore(folder)
  // Only the deny list in use remains.
  const lists = await store.read(state => [...state.denySets.values()].map(list => list.toSorted()[0]))
  expect(lists).toEqual([expect.stringContaining(`number-${n - 1}.`)])
  await store.close()
  // The file may hold the current state, as much again or 4 MB, and the change that crosses the limit.
  expect(largest).toBeLessThan(9 * MB)
}, 60_000)

test('a rewriting that fails leaves nothing behind, loses nothing, and is tried again later', async () => {
  const folder = await tempFolder()
  const { store, failures } = await openStore(folder)
  await store.change(putPrefixes(['127.9.0.0/16']))
  // Only the new file meets a full disk.
  await symlink('/dev/full', join(folder, 'state.journal.new'))
  let n = 0
  while (failures.length === 0 && n < 30) expect((await store.change(putUser('u', heavy(n++)))).ok).toBe(true)
  expect(String(failures[0])).toContain('ENOSPC')
  expect(await readdir(folder)).toEqual(['state.journal'])
  const before = await sizeOf(folder)
  // Not every change retries, because each attempt would fill the disk again.
  await store.change(putUser('small', { ...heavy(0), denied_domains: [] }))
  expect(await sizeOf(folder)).toBeGreaterThan(before)
  while ((await sizeOf(folder)) >= before && n < 60) await store.change(putUser('u', heavy(n++)))
  expect(failures).toHaveLength(1)
  expect(await sizeOf(folder)).toBeLessThan(4 * MB)
  await store.change(deleteUser('small'))
  await store.close()
  const { store: again } = await openStore(folder)
  expect(await again.read(state => [...state.users.keys()])).toEqual(['u'])
  await again.close()
}, 60_000)

test('what a crash left of a rewriting goes at the next start', async () => {
  const folder = await tempFolder()
  await (await openStore(folder)).store.close()
  await writeFile(join(folder, 'state.journal.new'), 'half of it')
  await (await openStore(folder)).store.close()
  expect(await readdir(folder)).toEqual(['state.journal'])
})

test('a file larger than what it says is read in little memory, and rewritten at once', async () => {
  const data = await tempFolder()
  const folder = join(data, 'agent')
  await mkdir(folder)
  const path = join(folder, 'state.journal')
  const seal = (value: unknown): string => {
    const json = JSON.stringify(value)
    return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
  }
  const file = await open(path, 'w')
  await file.write(seal({ format: 1, epoch: 'e', version: 0 }))
  await file.write(seal({ version: 1, ops: [{ op: 'prefixes', prefixes: ['127.9.0.0/16'] }] }))
  const filler = Array.from({ length: 2000 }, (_, n) => `site-${n}.${'long-label.'.repeat(20)}example.com`)
  const last = isLong ? 600 : 80
  for (let version = 2; version <= last; version++) {
    await file.write(seal({ version, ops: [{ op: 'blacklist', domains: version === last ? ['last.test'] : filler }] }))
  }
  await file.close()
  expect(await sizeOf(folder)).toBeGreaterThan((last - 40) * 450_000)
  const agent = await agentProcess(data, {
    AGENT_WORKERS: '0',
    NODE_OPTIONS: `--max-old-space-size=${isLong ? 96 : 64}`
  })
  const blacklist = await caller(agent.port)('GET', '/api/view-blacklist')
  expect(blacklist.json).toMatchObject({ data: { blacklist: ['last.test'] } })
  await until('the file to be short again', async () => (await sizeOf(folder)) < MB)
}, 60_000)

test('who reads along takes nothing that may be taken back, and never makes the file longer', async () => {
  const folder = await tempFolder()
  const path = join(folder, 'state.journal')
  const { store } = await openStore(folder)
  const small = (password: string): Parameters<typeof putUser>[1] => ({ ...heavy(0), password, denied_domains: [] })
  await store.change(putPrefixes(['127.9.0.0/16']))
  await store.change(putUser('kept', small('secret')))
  const hooks = { publish: () => Promise.resolve(), writeFailed: () => {} }
  const follow = async (bytes: number): Promise<Store> => {
    const opened = await Store.follow(folder, bytes, hooks)
    if (!opened.ok) throw new Error(opened.message)
    return opened.store
  }
  const users = (of: Store): Promise<string[]> => of.read(state => [...state.users.keys()])
  const durable = await store.show()
  expect(durable).toBe(await sizeOf(folder))
  // A line whose write failed is visible until it is truncated.
  await store.change(putUser('refused', small('secret')))
  const early = await follow(durable)
  expect(await users(early)).toEqual(['kept'])
  const late = await follow(await sizeOf(folder))
  await store.close()
  await truncate(path, durable)
  expect(await late.takeOver()).toMatchObject({
    ok: false,
    message: expect.stringMatching(/is shorter than it was/) as unknown
  })
  expect(await sizeOf(folder)).toBe(durable)
  expect(await early.takeOver()).toMatchObject({ ok: true, ops: [] })
  expect((await early.change(putUser('next', small('secret')))).ok).toBe(true)
  await early.close()
  const { store: again } = await openStore(folder)
  expect(await users(again)).toEqual(['kept', 'next'])
  await again.close()
  // The file is shorter than the writing process says.
  expect(await Store.follow(folder, (await sizeOf(folder)) + 1, hooks)).toMatchObject({ ok: false })
})
