import { proxyTlsHash } from '@netlet/contract/agent-hashes'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AgentProxyTls } from '@netlet/contract/proxy-tls'
import { newCertificate } from './certificates.ts'
import { servingAgent } from './takeovers.ts'
import {
  basic,
  lease,
  startedAgain,
  tcpTarget,
  tempFolder,
  type TestAgent,
  testAgent,
  tlsClient,
  until
} from './test-agent.ts'

let folder: string
let agent: TestAgent
const at = (name: string): string => join(folder, name)
const read = (name: string): string => readFileSync(at(name), 'utf8')
const pasted = (name: string, key = name): AgentProxyTls => ({
  source: 'pasted',
  certificate: read(`${name}.pem`),
  key: read(`${key}.key`)
})
const files = (name: string): AgentProxyTls => ({
  source: 'files',
  certificate: at(`${name}.pem`),
  key: at(`${name}.key`)
})

beforeAll(async () => {
  folder = await tempFolder()
  for (const name of ['first', 'second'])
    await newCertificate(name, { folder, names: `DNS:*.${name}.test,DNS:${name}.test,IP:127.0.0.9` })
  execFileSync('mkfifo', [at('pipe')])
})

beforeEach(async () => void (agent = await testAgent()))

async function dial(to = { host: `${agent.net}.1.1`, port: agent.proxyPort }): Promise<TLSSocket> {
  return tlsClient(to.port, { host: to.host })
}

/** The name in the proxy's certificate; null without TLS. Each call uses one of the client's few handshakes. */
async function subject(port = agent.proxyPort, host = `${agent.net}.1.1`): Promise<string | null> {
  const socket = await dial({ host, port }).catch(() => null)
  const name = socket?.getPeerCertificate().subject.CN
  socket?.destroy()
  return name === undefined ? null : String(name)
}

/** The certificate's names for new connections, as the console sees them. */
async function names(): Promise<unknown> {
  const info = await agent.call('GET', '/api/view-server-info')
  const { health } = info.json['data'] as { health: { certificates: { proxy_names: unknown } } }
  return health.certificates.proxy_names
}

const put = (wanted: unknown) => agent.call('PUT', '/api/proxy-tls', wanted)

describe('TLS to the proxy that the console sets', () => {
  test('begins, changes and ends for new connections, without cutting those that are open', async () => {
    await lease(agent.call, 'u', [`${agent.net}.1.0/30`])
    expect(await subject()).toBeNull()
    const set = await put(pasted('first'))
    expect(set.json).toEqual({ source: 'pasted', hash: proxyTlsHash(pasted('first')), fault: null })
    const target = await tcpTarget(socket => void socket.pipe(socket))
    const open = await dial()
    open.write(`CONNECT ${target.host} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
    expect(String((await once(open, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
    expect(await subject()).toBe('first')
    const echo = async (text: string) => {
      open.write(text)
      return String((await once(open, 'data'))[0])
    }
    await put(pasted('second'))
    expect(await subject()).toBe('second')
    expect(await echo('after a change')).toBe('after a change')
    expect((await put({ source: 'none' })).json).toMatchObject({ source: 'none', fault: null })
    expect(await subject()).toBeNull()
    expect(await echo('after its end')).toBe('after its end')
  })

  test('tells what it holds, names and end included, and never the key', async () => {
    await put(pasted('first'))
    const state = await agent.call('GET', '/api/state')
    const info = await agent.call('GET', '/api/view-server-info')
    expect(state.json['proxy_tls']).toEqual({ source: 'pasted', hash: proxyTlsHash(pasted('first')), fault: null })
    expect(info.json['data']).toMatchObject({
      health: { certificates: { proxy_names: ['*.first.test', 'first.test', '127.0.0.9'] } }
    })
    expect(state.text + info.text).not.toContain('PRIVATE')
    expect(statSync(join(agent.folder, 'proxy-tls.json')).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['a key of another certificate', () => pasted('first', 'second'), 409, 'proxyTlsNoPair'],
    ['files that are not there', () => files('none'), 409, 'proxyTlsNoPair'],
    ['what is no plain file, and may never end', () => ({ ...files('first'), key: at('pipe') }), 409, 'proxyTlsNoPair'],
    ['a path that is none', () => ({ ...files('first'), key: 'first.key' }), 400, 'badBody'],
    ['a wish without a key', () => ({ source: 'pasted', certificate: 'x' }), 400, 'badBody']
  ])('refuses %s, and what was there stays', async (_what, wanted, status, reason) => {
    await put(pasted('first'))
    const refused = await put(wanted())
    expect(refused.json).toMatchObject({ status, reason })
    expect(refused.text).not.toContain('PRIVATE')
    expect(await subject()).toBe('first')
    expect((await agent.call('GET', '/api/state')).json['proxy_tls']).toMatchObject({ source: 'pasted', fault: null })
  })

  test('leaves the decision to PROXY_TLS_CERT where that is set', async () => {
    const own = await testAgent({ config: { proxyTls: { cert: at('second.pem'), key: at('second.key') } } })
    expect((await own.call('PUT', '/api/proxy-tls', pasted('first'))).json).toMatchObject({
      status: 409,
      reason: 'proxyTlsByEnvironment'
    })
    expect((await own.call('GET', '/api/state')).json['proxy_tls']).toMatchObject({ source: 'environment' })
    expect(await subject(own.proxyPort, `${own.net}.1.1`)).toBe('second')
  })

  test('takes files of a renewal without a word from the console, through links as certbot keeps them', async () => {
    const problems = async () =>
      ((await agent.call('GET', '/healthz')).json['problems'] as unknown as string[]).includes('certificate_unreadable')
    for (const kind of ['pem', 'key']) await symlink(at(`first.${kind}`), at(`live.${kind}`))
    await put(files('live'))
    expect(await subject()).toBe('first')
    for (const kind of ['pem', 'key']) {
      await symlink(at(`second.${kind}`), at(`next.${kind}`))
      await rename(at(`next.${kind}`), at(`live.${kind}`))
    }
    await until('the renewed one', async () => JSON.stringify(await names()).includes('second.test'))
    expect(await subject()).toBe('second')
    expect(await problems()).toBe(false)
    await rm(at('live.key'))
    await agent.renewCertificate()
    expect(await problems()).toBe(true)
    expect(await subject()).toBe('second')
    await rm(at('live.pem'))
  })

  test.each(['pem', 'key'])(
    'goes on by what it has where the %s file is emptied, as a full disk leaves it',
    async kind => {
      for (const each of ['pem', 'key']) await copyFile(at(`first.${each}`), at(`emptied.${each}`))
      await put(files('emptied'))
      await writeFile(at(`emptied.${kind}`), '')
      await agent.renewCertificate()
      expect(await subject()).toBe('first')
      expect((await agent.call('GET', '/api/state')).json['proxy_tls']?.['fault']).toMatch(
        /there is no (certificate|key)/
      )
    }
  )

  test('is there again after a restart, also where its files came back late or its own file is damaged', async () => {
    for (const kind of ['pem', 'key']) await copyFile(at(`first.${kind}`), at(`late.${kind}`))
    await put(files('late'))
    await rm(at('late.key'))
    const again = await startedAgain(agent)
    const show = () => subject(again.proxyPort, `${again.net}.1.1`)
    expect(await show()).toBeNull()
    expect((await again.call('GET', '/api/state')).json['proxy_tls']?.['fault']).toContain('ENOENT')
    await copyFile(at('first.key'), at('late.key'))
    await again.renewCertificate()
    expect(await show()).toBe('first')

    await writeFile(join(agent.folder, 'proxy-tls.json'), '{')
    const third = await startedAgain(again)
    const { proxy_tls: state } = (await third.call('GET', '/api/state')).json
    expect(state).toMatchObject({ source: 'none', hash: null })
    expect(state?.['fault']).toContain('cannot be read')
    await third.call('PUT', '/api/proxy-tls', pasted('second'))
    expect(await subject(third.proxyPort, `${third.net}.1.1`)).toBe('second')
    expect(await readFile(join(agent.folder, 'proxy-tls.json'), 'utf8')).toContain('pasted')
  })

  test.each([
    ['is emptied', (file: string) => writeFile(file, '')],
    ['cannot be read', async (file: string) => rm(file).then(() => mkdir(file))]
  ])('is told to be gone where its file %s', async (_, damage) => {
    await put(pasted('first'))
    await damage(join(agent.folder, 'proxy-tls.json'))
    const again = await startedAgain(agent)
    expect((await again.call('GET', '/healthz')).json['problems']).toEqual(['certificate_unreadable'])
    expect((await again.call('GET', '/api/state')).json['proxy_tls']).toMatchObject({ source: 'none', hash: null })
  })

  test('reaches all workers, and the process that takes over', async () => {
    const { agent: own, call, takeOver } = await servingAgent({ AGENT_WORKERS: '2' })
    const show = async () =>
      new Set(await Promise.all(Array.from({ length: 8 }, () => subject(own.proxyPort, '127.0.0.1'))))
    await call('PUT', '/api/proxy-tls', pasted('first'))
    await until('both workers', async () => [...(await show())].join() === 'first')
    await takeOver()
    expect([...(await show())]).toEqual(['first'])
    await call('PUT', '/api/proxy-tls', { source: 'none' })
    await until('the end', async () => [...(await show())].every(name => name === null))
    expect(await own.exited).toBe(0)
  })
})
