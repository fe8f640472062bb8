import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { controlOf, environmentOf, KERNEL_SETTINGS, layoutOf, localOf, serviceFileOf } from './layout.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'netlet-unit-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const linesOf = (text: string) => text.split('\n').filter(line => line !== '' && !/^[#[]/.test(line))
const unit = serviceFileOf(layoutOf(''))

test('the service is bounded, and started again for ever', () => {
  const lines = linesOf(unit)
  for (const line of [
    'Restart=always',
    'StartLimitIntervalSec=0',
    'WatchdogSec=90',
    'NotifyAccess=all',
    // A reload replaces the program without cutting tunnels, and reads the settings again.
    'ExecReload=/bin/kill -HUP $MAINPID',
    'Environment=AGENT_SETTINGS_FILES=/etc/netlet-agent/agent.env,/etc/netlet-agent/local.env',
    'CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ReadWritePaths=/var/lib/netlet-agent',
    'SystemCallFilter=@system-service',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX',
    'MemoryMax=90%',
    'MemoryHigh=80%',
    'TasksMax=4096',
    'LimitNOFILE=1048576',
    'LimitNICE=+0'
  ])
    expect(lines).toContain(line)
  // The runtime compiles at run time, so it would not start with this one.
  expect(unit).not.toContain('MemoryDenyWriteExecute')
})

test.skipIf(!existsSync('/usr/bin/systemd-analyze'))(
  'systemd understands every line, and finds little exposed',
  async () => {
    const file = join(folder, 'netlet-agent.service')
    await writeFile(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
    const run = (...args: string[]) =>
      execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    expect(run('verify', '--man=no', file)).toBe('')
    // It runs as root, which raises the level. Without these bounds it is above 9.
    expect(run('security', '--offline=true', '--threshold=45', file)).toMatch(/Overall exposure level.*: [0-4]\.\d/)
  }
)

test("an operator's settings are read after ours, by systemd and by the control script", async () => {
  const files = linesOf(unit).filter(line => line.startsWith('EnvironmentFile='))
  expect(files).toEqual(['EnvironmentFile=/etc/netlet-agent/agent.env', 'EnvironmentFile=-/etc/netlet-agent/local.env'])
  // The real script, with a program that reports how it was started.
  const layout = layoutOf(folder)
  for (const path of [join(layout.home, 'bin'), layout.settings, join(folder, 'var/log'), layout.state])
    await mkdir(path, { recursive: true })
  const settings = { host: '0.0.0.0', port: 65533, proxyPort: 3128, token: 'a-token', secure: false, own: {} }
  await writeFile(layout.environment, environmentOf(layout, settings))
  await writeFile(layout.local, `${localOf('198.51.100.9')}PROXY_PORT=8080\n`)
  await writeFile(layout.control, controlOf(layout))
  await writeFile(layout.agent, '')
  await writeFile(layout.node, '#!/bin/sh\necho "$AGENT_PORT $PROXY_PORT $AGENT_ALLOW_CLIENTS"\n', { mode: 0o755 })
  execFileSync('sh', [layout.control, 'start'])
  return expect.poll(() => readFile(layout.log, 'utf8')).toBe('65533 8080 \n')
})

test('the first settings of an operator are none, and name the address to enter', () => {
  expect(linesOf(localOf('198.51.100.9'))).toEqual([])
  expect(localOf('198.51.100.9')).toContain('# AGENT_ALLOW_CLIENTS=198.51.100.9\n')
  expect(localOf('')).toContain('# AGENT_ALLOW_CLIENTS=203.0.113.7\n')
})

test('kernel settings are those that a proxy needs, and leave the own ports out of the range', () => {
  const values = Object.fromEntries(linesOf(KERNEL_SETTINGS).map(line => line.split(' = ')))
  expect(values).toMatchObject({ 'net.core.somaxconn': '65535', 'net.ipv6.ip_nonlocal_bind': '1' })
  const [from = 0, to = 0] = String(values['net.ipv4.ip_local_port_range']).split(' ').map(Number)
  for (const port of [3128, 65533]) expect(port < from || port > to).toBe(true)
})
