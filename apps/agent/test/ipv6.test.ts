import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const namespace = ['--net', '--mount-proc', '--fork', '--pid']
const allowed =
  process.platform === 'linux' &&
  spawnSync('unshare', [...namespace, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
if (!allowed) console.warn('IPv6 is not tested here: this machine lets nobody make a network namespace.')

test.runIf(allowed)('IPv6 and IPv4 ranges become local without an address each, and egress is ingress', () => {
  const script = fileURLToPath(new URL('ipv6-namespace.ts', import.meta.url))
  const run = spawnSync('unshare', [...namespace, process.execPath, script], { encoding: 'utf8', timeout: 60_000 })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toEqual({
    before: false,
    routes: [
      { prefix: '10.77.0.0/16', local: true },
      { prefix: 'fd00:77::/48', local: true, link: 'routed' }
    ],
    listed: ['fd00:77:0:1::1', '10.77.1.1'],
    http: 'fd00:77:0:1:ab::9',
    connect: 'fd00:77:0:1::1',
    socks: 'fd00:77:0:1::2',
    v4: '10.77.1.1',
    foreign: 407,
    refused: 403,
    gone: true
  })
})
