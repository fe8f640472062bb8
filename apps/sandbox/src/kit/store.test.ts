import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from './store.ts'

test('others cannot read what a stand-in keeps, even in a folder of an earlier version', async () => {
  const base = await mkdtemp(join(tmpdir(), 'netlet-store-'))
  try {
    const folder = join(base, 'sandbox')
    const file = join(folder, 'outbox.json')
    await mkdir(folder)
    await chmod(folder, 0o755)
    await writeFile(`${file}.new`, 'left by a process that was killed')
    await chmod(`${file}.new`, 0o644)
    const store = await openStore(file, () => ({ version: 1 }))
    await store.close()
    const modes = await Promise.all([folder, file].map(async path => (await stat(path)).mode & 0o777))
    expect(modes).toEqual([0o700, 0o600])
  } finally {
    await rm(base, { recursive: true })
  }
})
