import { createPublicKey } from 'node:crypto'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launch, newDataDir, removeDataDir } from '../testing/harness.ts'
import { openReportKey } from './reports.ts'

let dir: string
beforeAll(async () => {
  dir = await newDataDir()
})
afterAll(() => removeDataDir(dir))

const shownKey = async () => {
  const service = await launch(dir, 'http://shop.test')
  try {
    const answer = await fetch(`${service.url}/sandbox/mail/webhook_key`)
    return ((await answer.json()) as { public_key: string }).public_key
  } finally {
    await service.close()
  }
}

test('reports are signed with the same key after a restart, which only its owner can read', async () => {
  const first = await shownKey()
  expect(await shownKey()).toBe(first)
  const file = join(dir, 'sandbox', 'mail-report-key.pem')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  // An invalid key is replaced.
  await writeFile(file, 'no key')
  const other = createPublicKey(await openReportKey(join(dir, 'sandbox')))
  expect(other.export({ type: 'spki', format: 'der' }).toString('base64')).not.toBe(first)
  expect(await shownKey()).toBe(other.export({ type: 'spki', format: 'der' }).toString('base64'))
})
