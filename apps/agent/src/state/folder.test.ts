import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { tempFolder } from '../../test/test-agent.ts'
import { readOrCreateToken } from './folder.ts'

vi.mock('node:fs/promises', { spy: true })

test('a token is made once, whole, for its owner alone; an empty file holds none', async () => {
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

test('a token that cannot be read at present is told, and stays', async () => {
  const folder = await tempFolder()
  const made = await readOrCreateToken(folder)
  vi.mocked(readFile).mockRejectedValueOnce(Object.assign(new Error('EIO'), { code: 'EIO' }))
  await expect(readOrCreateToken(folder)).rejects.toThrow('EIO')
  expect(await readOrCreateToken(folder)).toBe(made)
})

test('a token that cannot be kept is told', async () => {
  const folder = await tempFolder()
  await mkdir(join(folder, 'token.new'))
  await expect(readOrCreateToken(folder)).rejects.toThrow('cannot be written')
  expect(await readdir(folder)).not.toContain('token')
})
