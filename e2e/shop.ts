import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test as base } from '@playwright/test'
import { freePorts } from '../apps/server/src/testing/free-ports.ts'

/** Longer than a start takes on a very busy machine. */
const START_MS = 420_000
const root = fileURLToPath(new URL('..', import.meta.url))

export type RunningShop = {
  url: string
  platformUrl: string
  /** The accounts of demo mode. */
  customer: { username: string; password: string }
  admin: { username: string; password: string }
}

/** The shop as `npm start` runs it, but without history: once per worker, on free ports and in its own folder. */
export const test = base.extend<object, { shop: RunningShop }>({
  shop: [
    // oxlint-disable-next-line no-empty-pattern -- the test runner reads the names of fixtures from this pattern
    async ({}, use) => {
      const { shop, stop } = await startShop()
      await use(shop)
      expect(await stop()).toBe(0)
    },
    { scope: 'worker', timeout: START_MS + 60_000 }
  ]
})

/**
 * Starts a whole shop on free ports and in its own folder.
 * @param dev as `npm run dev` starts it
 * @param history with the demo's history, as a newcomer gets it
 * @returns the shop, its output so far, and a function that stops it and returns the exit code
 */
export async function startShop({ dev = false, history = false } = {}): Promise<{
  shop: RunningShop
  output: () => string
  stop: () => Promise<number | null>
}> {
  const dataDir = await mkdtemp(join(tmpdir(), 'netlet-e2e-'))
  // The embedded database may run under another account, which must traverse this folder.
  await chmod(dataDir, 0o755)
  const [port = 0, platformPort = 0, agentPort = 0, proxyPort = 0, dnsPort = 0] = await freePorts(5)
  const { DATABASE_URL: _, NODE_ENV: __, ...env } = process.env
  const child = spawn('node', ['scripts/start.mjs', ...(dev ? ['dev'] : [])], {
    cwd: root,
    env: {
      ...env,
      DATA_DIR: dataDir,
      DEMO_HISTORY: history ? '1' : '0',
      PORT: String(port),
      PLATFORM_PORT: String(platformPort),
      AGENT_PORT: String(agentPort),
      PROXY_PORT: String(proxyPort),
      DNS_SERVERS: `127.0.0.1:${dnsPort}`
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(text))
  }
  const output = () => lines.join('')
  const deadline = Date.now() + START_MS
  while (!output().includes('Netlet is running')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGTERM')
      throw new Error(`The shop did not start:\n${output()}`)
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return {
    shop: {
      url: `http://127.0.0.1:${port}`,
      platformUrl: `http://127.0.0.1:${platformPort}`,
      customer: { username: 'demo1', password: 'Demo#2026' },
      admin: { username: 'admin', password: 'Admin#2026' }
    },
    output,
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      await rm(dataDir, { recursive: true, force: true })
      return child.exitCode
    }
  }
}

export { expect }
