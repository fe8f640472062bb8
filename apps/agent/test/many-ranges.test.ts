import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort } from '../../server/src/testing/free-ports.ts'
import { startAgent } from '../src/agent.ts'
import type { RunCommand } from '../src/net/routes.ts'
import { lease, proxied, silent, tempFolder, testAgent, testConfig } from './test-agent.ts'

const namespace = ['--net', '--mount-proc', '--fork', '--pid']
const allowed =
  process.platform === 'linux' &&
  spawnSync('unshare', [...namespace, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
if (!allowed) console.warn('Real ranges are not tested here: this machine lets nobody make a network namespace.')

test.runIf(allowed)('4,096 real ranges of IPv4 and 256 of IPv6 are local after a start, and served', () => {
  const script = fileURLToPath(new URL('many-ranges-namespace.ts', import.meta.url))
  const run = spawnSync('unshare', [...namespace, process.execPath, script], { encoding: 'utf8', timeout: 50_000 })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toEqual({ local: 4096 + 256, served: ['502', '502'] })
})

test('a start serves while its ranges are still being made local', async () => {
  const folder = await tempFolder()
  const first = await testAgent({ config: { folder }, world: { run: async () => ({ code: 0, output: '' }) } })
  await first.call('PUT', '/api/prefixes', { prefixes: [`${first.net}.0.0/16`, '10.98.0.0/24'] })
  await lease(first.call, 'u', [`${first.net}.1.1/32`])
  await first.close()
  const done = Promise.withResolvers<void>()
  const asked: string[][] = []
  const run: RunCommand = async (_file, args) => {
    asked.push([...args])
    await done.promise
    return { code: 0, output: '' }
  }
  const proxyPort = await freePort()
  const starting = startAgent({ ...testConfig(folder), proxyPort }, { log: silent, run })
  let status = 0
  while (status !== 403)
    ({ status } = await proxied(`${first.net}.1.1`, proxyPort, 'u', 'http://8.8.8.8:25/').catch(() => ({ status: 0 })))
  expect(asked).toHaveLength(1)
  done.resolve()
  const started = await starting
  if (started.ok) await started.agent.close()
  expect(started.ok).toBe(true)
})
