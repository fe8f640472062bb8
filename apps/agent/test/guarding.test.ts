// Which clients reach the management API, and how the agent feeds systemd's watchdog.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { startAgent } from '../src/agent.ts'
import { feedWatchdog } from '@netlet/contract/systemd'
import { parsePrefix } from '../src/net/ip.ts'
import { readConfig } from '../src/config.ts'
import { newCertificate } from './certificates.ts'
import { notifyReceiver } from './notify-receiver.ts'
import { agentProcess } from './process.ts'
import { caller, onEnd, silent, tempFolder, testAgent, testConfig, until } from './test-agent.ts'

/** The reply to a request from this local address. It is empty if the agent closes the connection without one. */
async function askFrom(localAddress: string, port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  let said = ''
  socket.on('error', () => {}).on('data', data => (said += data.toString()))
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await once(socket, 'close')
  return said
}

test('the management API answers everybody, or only those who are listed and this machine', async () => {
  const open = await testAgent()
  expect(await askFrom('127.0.0.9', open.port)).toContain('200 OK')
  const listed = await testAgent({
    config: { allowClients: [parsePrefix('203.0.113.0/24')].flatMap(one => one ?? []) }
  })
  expect((await caller(listed.port)('GET', '/api/state')).status).toBe(200)
  expect(await askFrom('127.0.0.9', listed.port)).toContain('200 OK')
})

const other = Object.values(networkInterfaces())
  .flat()
  .find(one => one !== undefined && !one.internal && one.family === 'IPv4')?.address

test.skipIf(other === undefined)('a stranger is closed out before a byte is read, also with TLS', async () => {
  for (const tls of [null, (await newCertificate()).files]) {
    const allowClients = [parsePrefix('203.0.113.7')].flatMap(one => one ?? [])
    const started = await startAgent(testConfig(await tempFolder(), { host: '0.0.0.0', tls, allowClients }), {
      log: silent
    })
    if (!started.ok) throw new Error(started.message)
    onEnd(() => started.agent.close())
    const socket = connect({ host: other ?? '', port: started.agent.port, localAddress: other ?? '' })
    let said = ''
    socket.on('error', () => {}).on('data', data => (said += data.toString()))
    await once(socket, 'close')
    expect(said).toBe('')
  }
})

test('AGENT_ALLOW_CLIENTS lists addresses and prefixes, and says what is none', () => {
  const read = readConfig({ AGENT_ALLOW_CLIENTS: '203.0.113.7, 2001:db8::/32' })
  expect(read.ok && read.config.allowClients.map(({ text }) => text)).toEqual(['203.0.113.7/32', '2001:db8::/32'])
  expect(readConfig({ AGENT_ALLOW_CLIENTS: 'home' })).toMatchObject({
    ok: false,
    message: expect.stringContaining('AGENT_ALLOW_CLIENTS must list addresses or prefixes') as string
  })
})

const hasTools = ['/usr/bin/systemd-notify', '/usr/bin/perl'].every(existsSync)
test.skipIf(!hasTools)('systemd hears that the agent is well for as long as its loop turns', async () => {
  const { path, heard: lines } = await notifyReceiver()
  const heard = (): number => lines().filter(line => line === 'WATCHDOG=1').length
  const agent = await agentProcess(await tempFolder(), { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' })
  await until('some words', () => heard() >= 3)
  // A hung loop sends no messages. Only those already sent arrive.
  agent.child.kill('SIGSTOP')
  let last = -1
  await until('silence', async () => {
    const before = heard()
    // Longer than several watchdog intervals.
    await new Promise(resolve => setTimeout(resolve, 300))
    return (last = heard()) === before
  })
  agent.child.kill('SIGCONT')
  await until('more words', () => heard() > last)
})

test('an agent that is not well, or has no watchdog, sends nothing', async () => {
  const asked: string[] = []
  const stop = feedWatchdog({ NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '20000' }, () => {
    asked.push('asked')
    return false
  })
  await until('it to be asked', () => asked.length >= 3)
  stop()
  for (const env of [
    {},
    { NOTIFY_SOCKET: '/x' },
    { WATCHDOG_USEC: '1000' },
    { NOTIFY_SOCKET: '/x', WATCHDOG_USEC: 'no' }
  ])
    feedWatchdog(env, () => {
      throw new Error('nobody asked')
    })()
})
