import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockFolder } from '../src/state/folder.ts'
import { caller, echoTarget, lease, onEnd, randomNet, tempFolder, tunnel, until } from './test-agent.ts'
import { family } from './processes.ts'
import { agentProcess } from './process.ts'
import { kill } from './takeovers.ts'
import { newCertificate } from './secure-context.ts'

const occupied = async (): Promise<number> => {
  const server = createServer()
  onEnd(() => server.close())
  return new Promise(resolve => server.listen(0, '0.0.0.0', () => resolve((server.address() as AddressInfo).port)))
}

/** Files for the management API. */
async function pairOf(cert: Buffer, key: Buffer): Promise<Record<string, string>> {
  const folder = await tempFolder()
  const [certFile, keyFile] = [join(folder, 'api.pem'), join(folder, 'api.key')]
  await writeFile(certFile, cert)
  await writeFile(keyFile, key)
  return { AGENT_TLS_CERT: certFile, AGENT_TLS_KEY: keyFile }
}

test.each([
  [
    'a proxy port in use',
    async () => ({ PROXY_PORT: String(await occupied()) }),
    /proxy port \d+ is in use.*PROXY_PORT/
  ],
  [
    'a management port in use',
    async () => ({ AGENT_PORT: String(await occupied()) }),
    /management port \d+ is in use.*AGENT_PORT/
  ],
  ['a port that is none', () => ({ PROXY_PORT: 'x' }), /PROXY_PORT must be a whole number/],
  [
    'a bad destination',
    () => ({ AGENT_ALLOW_DESTINATIONS: '10.0.0.1/8' }),
    /AGENT_ALLOW_DESTINATIONS .*10\.0\.0\.1\/8/
  ],
  ['half a certificate', () => ({ AGENT_TLS_CERT: '/x' }), /must be set together/],
  ['a certificate that is not there', () => ({ AGENT_TLS_CERT: '/x', AGENT_TLS_KEY: '/y' }), /cannot be read/],
  [
    'a certificate with the key of another one',
    async () => pairOf((await newCertificate()).cert, (await newCertificate()).key),
    /AGENT_TLS_CERT .*not a pair.*mismatch/
  ],
  [
    'a certificate without its key',
    async () => pairOf((await newCertificate()).cert, Buffer.alloc(0)),
    /AGENT_TLS_CERT .*not a pair: there is no key/
  ],
  [
    'half of a certificate',
    async () => {
      const { cert, key } = await newCertificate()
      return pairOf(cert.subarray(0, cert.length / 2), key)
    },
    /AGENT_TLS_CERT .*not a pair/
  ],
  ['a state folder that is a file', () => ({ DATA_DIR: '/dev/null' }), /cannot be written.*DATA_DIR/]
])('%s: one line that says what to do, and a failure', async (_, env, message) => {
  const agent = await agentProcess(await tempFolder(), await env())
  expect(await agent.exited).toBe(1)
  expect(agent.output().trim().split('\n')).toHaveLength(1)
  expect(agent.output()).toMatch(message)
})

test('a damaged state is not overwritten but refused', async () => {
  const folder = await tempFolder()
  await mkdir(join(folder, 'agent'))
  await writeFile(join(folder, 'agent', 'state.journal'), 'rubbish\nmore rubbish\n')
  const agent = await agentProcess(folder)
  expect(await agent.exited).toBe(1)
  expect(agent.output()).toMatch(/state\.journal is damaged at line 1/)
  expect(await readFile(join(folder, 'agent', 'state.journal'), 'utf8')).toBe('rubbish\nmore rubbish\n')
})

test.each(['a new state', 'an old one'])('%s that cannot be written: one line that says what to do', async kind => {
  const folder = await tempFolder()
  // Root may write anything: what cannot be opened for writing by anybody is a folder.
  const inTheWay = join(folder, 'agent', 'state.journal.new')
  if (kind === 'an old one') {
    const before = await agentProcess(folder)
    before.child.kill('SIGTERM')
    await before.exited
  }
  await mkdir(inTheWay, { recursive: true })
  const agent = await agentProcess(folder)
  expect(await agent.exited).toBe(1)
  expect(agent.output().trim().split('\n')).toHaveLength(1)
  expect(agent.output()).toMatch(/state\.journal cannot be written \(\w+\)\. Free some disk space/)
})

test('a stop is clean where the folder cannot be written to any more', async () => {
  const folder = await tempFolder()
  const agent = await agentProcess(folder)
  const path = join(folder, 'agent')
  await rename(path, `${path}.away`)
  await writeFile(path, 'no folder')
  agent.child.kill('SIGTERM')
  expect(await agent.exited).toBe(0)
})

test('a folder in the place of the lock keeps nobody from starting', async () => {
  const folder = await tempFolder()
  await mkdir(join(folder, 'agent', 'lock.sock', 'within'), { recursive: true })
  expect((await agentProcess(folder)).port).toBeGreaterThan(0)
})

test('two agents never share a state folder; a token is made and kept; SIGTERM stops cleanly', async () => {
  const folder = await tempFolder()
  const first = await agentProcess(folder, { AGENT_TOKEN: '' })
  const token = (await readFile(join(folder, 'agent', 'token'), 'utf8')).trim()
  expect(token.length).toBeGreaterThan(20)
  expect((await stat(join(folder, 'agent', 'token'))).mode & 0o077).toBe(0)
  expect(first.output()).not.toContain(token)
  expect((await caller(first.port, token)('GET', '/api/state')).status).toBe(200)
  const second = await agentProcess(folder)
  expect(await second.exited).toBe(1)
  expect(second.output()).toMatch(/Another agent already uses/)
  first.child.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  const third = await agentProcess(folder, { AGENT_TOKEN: '' })
  expect((await caller(third.port, token)('GET', '/api/state')).status).toBe(200)
})

test('an agent in another container with the same folder does not run beside the first', async () => {
  const folder = await tempFolder()
  const path = join(folder, 'agent')
  await mkdir(path)
  const file = join(path, 'lock.sock')
  // As the other container has it: the name without a file is of its own network namespace.
  const other = createServer()
  await new Promise<void>(resolve => other.listen(file, resolve))
  expect(await lockFolder(path)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/Another agent already uses/) as unknown
  })
  await new Promise(resolve => other.close(resolve))
  const first = await agentProcess(folder)
  first.child.kill('SIGKILL')
  await first.exited
  // A killed one leaves the file, and nobody behind it.
  expect(existsSync(file)).toBe(true)
  expect((await agentProcess(folder)).port).toBeGreaterThan(0)
})

test.runIf(process.platform === 'linux')(
  'several workers: changes hold in all of them when acknowledged, a lost one is replaced',
  async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '3' })
    const call = caller(agent.port)
    const net = randomNet()
    const echo = await echoTarget()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    const ip = `${net}.1.1`
    const statuses = async (user: string): Promise<number[]> => {
      const opened = await Promise.all(Array.from({ length: 24 }, () => tunnel(ip, agent.proxyPort, user, echo.host)))
      for (const { rawClient } of opened) rawClient.socket.destroy()
      return [...new Set(opened.map(each => each.status))]
    }
    for (let n = 0; n < 5; n++) {
      await lease(call, `w${n}`, [`${ip}/32`])
      expect(await statuses(`w${n}`)).toEqual([200])
      await call('DELETE', `/api/users/w${n}`)
      expect(await statuses(`w${n}`)).toEqual([407])
    }
    await lease(call, 'stays', [`${ip}/32`])
    expect((await call('GET', '/healthz')).json).toMatchObject({ workers: 3 })
    const workers = async () => (await family(agent.child.pid ?? 0)).filter(pid => pid !== agent.child.pid)
    const [, ...others] = await workers()
    await until('the loss to show', async () => {
      // Where the test has to wait for its turn, another one is there meanwhile.
      for (const pid of await workers()) if (!others.includes(pid)) kill(pid)
      return (await call('GET', '/healthz')).status === 503
    })
    await lease(call, 'during', [`${ip}/32`])
    await until('the worker to be back', async () => (await call('GET', '/healthz')).status === 200)
    expect(await statuses('stays')).toEqual([200])
    expect(await statuses('during')).toEqual([200])
    const log = await call('GET', '/api/export/access.log')
    expect(log.text).toMatch(/ stays .* CONNECT /)
    const traffic = await call('GET', '/api/traffic')
    expect([...(traffic.json['rows'] ?? [])].find(row => row['user'] === 'stays')).toMatchObject({ requests: 24 })
    agent.child.kill('SIGTERM')
    expect(await agent.exited).toBe(0)
  }
)
