// How a console replaces the management token.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent } from '../src/agent.ts'
import { onEnd, silent, tempFolder, testConfig, token } from './test-agent.ts'

const NEW = 'n'.repeat(32)
const NEWER = 'm'.repeat(32)

async function running(folder: string, configured = token) {
  const started = await startAgent({ ...testConfig(folder), token: configured }, { log: silent })
  if (!started.ok) throw new Error(started.message)
  let open = true
  const close = async () => {
    if (open) await started.agent.close()
    open = false
  }
  onEnd(close)
  const status = async (given: string, replacement?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${started.agent.port}/api/${replacement ? 'token' : 'state'}`, {
      headers: { authorization: `Bearer ${given}`, 'content-type': 'application/json' },
      ...(replacement ? { method: 'PUT', body: JSON.stringify(replacement) } : {})
    })
    await response.arrayBuffer()
    return response.status
  }
  return { status, close }
}

test('the former token works until a call comes with the new one, also after restarts', async () => {
  const folder = await tempFolder()
  const first = await running(folder)
  expect(await first.status(NEW)).toBe(401)
  expect(await first.status(NEW, { token: NEW })).toBe(401)
  for (const bad of [{ token: 'short' }, { token: `${NEW}\n` }, { token: 7 }, {}])
    expect(await first.status(token, bad)).toBe(400)
  // The reply may be lost, and the console asks again with another one.
  expect(await first.status(token, { token: NEWER })).toBe(200)
  expect(await first.status(token, { token: NEW })).toBe(200)
  expect(await first.status(NEWER)).toBe(401)
  await first.close()

  const second = await running(folder)
  expect(await second.status(token)).toBe(200)
  expect(await second.status(NEW)).toBe(200)
  await second.close()

  const third = await running(folder)
  expect(await third.status(token)).toBe(401)
  expect(await third.status(NEW)).toBe(200)
  // It can be replaced again, and this time the calls come at once.
  expect(await third.status(NEW, { token: NEWER })).toBe(200)
  const all = await Promise.all([NEW, NEWER, NEWER, NEW].map(given => third.status(given)))
  expect([all[1], all[2]]).toEqual([200, 200])
  expect(await third.status(NEWER)).toBe(200)
  await third.close()
  const kept = JSON.parse(await readFile(join(folder, 'rotated-token'), 'utf8')) as object
  expect(kept).toMatchObject({ token: NEWER, before: null })
  expect((await stat(join(folder, 'rotated-token'))).mode & 0o777).toBe(0o600)

  // Another configured token ends it.
  const configured = await running(folder, 'another-configured-token')
  expect(await configured.status(NEWER)).toBe(401)
  expect(await configured.status('another-configured-token')).toBe(200)
})

test('a damaged file is named, and stops the start', async () => {
  const folder = await tempFolder()
  await writeFile(join(folder, 'rotated-token'), '{')
  const started = await startAgent({ ...testConfig(folder), token }, { log: silent })
  expect(started).toMatchObject({ ok: false, message: expect.stringContaining('rotated-token cannot be read') })
})
