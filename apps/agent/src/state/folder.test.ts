import { mkdir, readdir, readFile, rename, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../test/test-agent.ts'
import { readOrCreateSessionKey, readOrCreateToken } from './folder.ts'

test('a token is generated once, readable by its owner only; an empty file is replaced', async () => {
  const folder = await tempFolder()
  const made = await readOrCreateToken(folder)
  expect(made.length).toBeGreaterThan(20)
  expect(await readOrCreateToken(folder)).toBe(made)
  expect(await readFile(join(folder, 'token'), 'utf8')).toBe(`${made}\n`)
  expect((await stat(join(folder, 'token'))).mode & 0o077).toBe(0)
  expect(await readdir(folder)).toEqual(['token'])
  await writeFile(join(folder, 'token'), '')
  expect(await readOrCreateToken(folder)).not.toBe(made)
})

test('a token that cannot be read is reported and stays', async () => {
  const folder = await tempFolder()
  const made = await readOrCreateToken(folder)
  const path = join(folder, 'token')
  await rename(path, `${path}.away`)
  await mkdir(path)
  await expect(readOrCreateToken(folder)).rejects.toThrow('EISDIR')
  await rmdir(path)
  await rename(`${path}.away`, path)
  expect(await readOrCreateToken(folder)).toBe(made)
})

test('a token that cannot be saved is reported', async () => {
  const folder = await tempFolder()
  await mkdir(join(folder, 'token.new'))
  await expect(readOrCreateToken(folder)).rejects.toThrow('cannot be written')
  expect(await readdir(folder)).not.toContain('token')
})

test.each([
  ['zeros, as after a crash', Buffer.alloc(33)],
  ['other bytes', Buffer.from([0x6c, 0xe2, 0xbc, 0xfa, 0x96, 0xfd, 0x40, 0xe3, 0x88, 0x71])],
  ['its first half and zeros', Buffer.from('kmoieIZR8dMHL_PT\0\0\0\0')],
  ['a few letters', Buffer.from('kmoi\n')],
  ['lines', Buffer.from('first-line\nsecond-line\n')]
])('a damaged token or session key is reported with a remedy, and stays: %s', async (_, bytes) => {
  const folder = await tempFolder()
  for (const [name, read] of [
    ['token', readOrCreateToken],
    ['session.key', readOrCreateSessionKey]
  ] as const) {
    await writeFile(join(folder, name), bytes)
    await expect(read(folder)).rejects.toThrow(/damaged\. Restore it from a backup, or remove it/)
    expect(await readFile(join(folder, name))).toEqual(bytes)
  }
})

test('an operator’s own token is accepted', async () => {
  const folder = await tempFolder()
  await writeFile(join(folder, 'token'), 'operators-own/token+1=\r\n')
  expect(await readOrCreateToken(folder)).toBe('operators-own/token+1=')
})
