import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../server/src/testing/free-ports.ts'
import { startAgent } from '../src/agent.ts'
import { readConfig } from '../src/config.ts'
import type { RunCommand } from '../src/net/routes.ts'
import { lockFolder } from '../src/state/folder.ts'
import { newCertificate } from './certificates.ts'
import { agentProcess } from './process.ts'
import { caller, lease, onEnd, proxied, silent, tempFolder, testAgent, testConfig, token, until } from './test-agent.ts'

const occupied = async (): Promise<number> => {
  const server = createServer()
  onEnd(() => server.close())
  return new Promise(resolve => server.listen(0, '0.0.0.0', () => resolve((server.address() as AddressInfo).port)))
}

/** Writes a certificate for the management API. Returns the settings that name its files. */
async function filesOf(cert: string, key: string): Promise<Record<string, string>> {
  const folder = await tempFolder()
  const [certFile, keyFile] = [join(folder, 'api.pem'), join(folder, 'api.key')]
  await writeFile(certFile, cert)
  await writeFile(keyFile, key)
  return { AGENT_TLS_CERT: certFile, AGENT_TLS_KEY: keyFile }
}

/** Why an agent does not start with these settings; null if it serves. */
async function problemOf(env: Record<string, string>): Promise<string | null> {
  const own = { AGENT_TOKEN: token, AGENT_PORT: '0', PROXY_PORT: '0', PROXY_HOST: '0.0.0.0', AGENT_WORKERS: '0' }
  const read = readConfig({ ...own, DATA_DIR: await tempFolder(), ...env })
  if (!read.ok) return read.message
  const started = await startAgent(read.config, { log: silent })
  if (!started.ok) return started.message
  await started.agent.close()
  return null
}

test.each<[string, () => Record<string, string> | Promise<Record<string, string>>, RegExp]>([
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
    async () => filesOf((await newCertificate()).cert, (await newCertificate()).key),
    /AGENT_TLS_CERT .*not a pair.*mismatch/
  ],
  [
    'a certificate without its key',
    async () => filesOf((await newCertificate()).cert, ''),
    /AGENT_TLS_CERT .*not a pair: there is no key/
  ],
  [
    'half of a certificate',
    async () => {
      const { cert, key } = await newCertificate()
      return filesOf(cert.slice(0, cert.length / 2), key)
    },
    /AGENT_TLS_CERT .*not a pair/
  ],
  [
    'a proxy certificate with the key of another one',
    async () => ({
      PROXY_TLS_CERT: (await newCertificate()).files.cert,
      PROXY_TLS_KEY: (await newCertificate()).files.key
    }),
    /PROXY_TLS_CERT and PROXY_TLS_KEY cannot be read, or are not a pair/
  ],
  ['a state folder that is a file', () => ({ DATA_DIR: '/dev/null' }), /cannot be written.*DATA_DIR/],
  [
    'a state that cannot be written',
    async () => {
      const folder = await tempFolder()
      // Root may write to any file, so a folder takes its place.
      await mkdir(join(folder, 'agent', 'state.journal.new'), { recursive: true })
      return { DATA_DIR: folder }
    },
    /state\.journal cannot be written \(\w+\)\. Free some disk space/
  ],
  [
    'an old state that cannot be written',
    async () => {
      const folder = await tempFolder()
      expect(await problemOf({ DATA_DIR: folder })).toBe(null)
      await mkdir(join(folder, 'agent', 'state.journal.new'))
      return { DATA_DIR: folder }
    },
    /state\.journal cannot be written \(\w+\)\. Free some disk space/
  ],
  [
    'a damaged state',
    async () => {
      const folder = await tempFolder()
      await mkdir(join(folder, 'agent'))
      await writeFile(join(folder, 'agent', 'state.journal'), 'rubbish\nmore rubbish\n')
      return { DATA_DIR: folder }
    },
    /state\.journal is damaged at line 1/
  ]
])('%s: one line that says what to do', async (_, env, message) => {
  const settings = await env()
  const said = await problemOf(settings)
  expect(said).toMatch(message)
  expect(said).not.toContain('\n')
  // The second start fails in the same way, so the first one kept and overwrote nothing.
  expect(await problemOf(settings)).toMatch(message)
})

test('a program that cannot start prints one line and fails', async () => {
  const agent = await agentProcess(await tempFolder(), { PROXY_PORT: String(await occupied()) })
  expect(await agent.exited).toBe(1)
  expect(agent.output().trim().split('\n')).toHaveLength(1)
  expect(agent.output()).toMatch(/proxy port \d+ is in use.*PROXY_PORT/)
})

test('two agents never share a state folder; a token is made and kept; SIGTERM stops cleanly', async () => {
  const folder = await tempFolder()
  const first = await agentProcess(folder, { AGENT_TOKEN: '', AGENT_WORKERS: '0' })
  const made = (await readFile(join(folder, 'agent', 'token'), 'utf8')).trim()
  expect(made.length).toBeGreaterThan(20)
  expect((await stat(join(folder, 'agent', 'token'))).mode & 0o077).toBe(0)
  expect(first.output()).not.toContain(made)
  expect((await caller(first.port, made)('GET', '/api/state')).status).toBe(200)
  expect(await problemOf({ DATA_DIR: folder })).toMatch(/Another agent already uses/)
  first.child.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  const again = await startAgent(testConfig(join(folder, 'agent'), { token: null }), { log: silent })
  if (!again.ok) throw new Error(again.message)
  expect(again.agent.token).toBe(made)
  await again.agent.close()
})

test('a stop is clean where the folder cannot be written to any more', async () => {
  const folder = await tempFolder()
  const agent = await agentProcess(folder, { AGENT_WORKERS: '0' })
  const path = join(folder, 'agent')
  await rename(path, `${path}.away`)
  await writeFile(path, 'no folder')
  agent.child.kill('SIGTERM')
  expect(await agent.exited).toBe(0)
})

test('a lock holds across containers, and the file that a killed agent leaves blocks no start', async () => {
  const occupiedFolder = await tempFolder()
  // A folder in its place is not a lock.
  await mkdir(join(occupiedFolder, 'agent', 'lock.sock', 'within'), { recursive: true })
  expect(await problemOf({ DATA_DIR: occupiedFolder })).toBe(null)
  const folder = await tempFolder()
  const path = join(folder, 'agent')
  const file = join(path, 'lock.sock')
  await mkdir(path)
  // As an agent in another container holds it: abstract socket names belong to a network namespace.
  const other = createServer()
  await new Promise<void>(resolve => other.listen(file, resolve))
  expect(await lockFolder(path)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/Another agent already uses/) as unknown
  })
  await new Promise(resolve => other.close(resolve))
  const killed = await agentProcess(folder, { AGENT_WORKERS: '0' })
  killed.child.kill('SIGKILL')
  await killed.exited
  expect(existsSync(file)).toBe(true)
  expect(await problemOf({ DATA_DIR: folder })).toBe(null)
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
  const ask = () => proxied(`${first.net}.1.1`, proxyPort, 'u', 'http://8.8.8.8:25/').catch(() => null)
  await until('it to serve', async () => (await ask())?.status === 403)
  expect(asked).toHaveLength(1)
  done.resolve()
  const started = await starting
  if (started.ok) await started.agent.close()
  expect(started.ok).toBe(true)
})
