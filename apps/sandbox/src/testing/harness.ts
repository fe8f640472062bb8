import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox.ts'

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer; at: number }

/** A shop that records requests and answers with `answer` (a status, or null for silence). */
export async function startReceiver() {
  const received: Received[] = []
  const receiver = {
    url: '',
    received,
    answer: (_request: Received): number | null => 200,
    async close() {
      server.closeAllConnections()
      await new Promise<void>(resolve => server.close(() => resolve()))
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks), at: Date.now() }
      received.push(one)
      const status = receiver.answer(one)
      if (status !== null) response.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return receiver
}

/** An address where nothing listens. */
export async function closedUrl(): Promise<string> {
  const receiver = await startReceiver()
  await receiver.close()
  return receiver.url
}

export const secrets = {
  accessToken: 'test-access-token',
  apiKey: 'test-api-key',
  appSecret: 'test-app-secret',
  discordClientId: '100',
  discordClientSecret: 'test-discord-secret'
}

export const newDataDir = () => mkdtemp(join(tmpdir(), 'netlet-sandbox-'))
export const removeDataDir = (dir: string) => rm(dir, { recursive: true, force: true })

/** A stand-in on its own port. Webhooks are retried after 20 ms by default. */
export const launch = (dataDir: string, shopUrl: string, options: Partial<SandboxOptions> = {}): Promise<Sandbox> =>
  startSandbox({ port: 0, dataDir, shopUrl, ...secrets, webhookBackoff: () => 20, ...options })

/** A stand-in with its own folder, which `close` removes. */
export async function launchAlone(shopUrl: string, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const dataDir = await newDataDir()
  const sandbox = await launch(dataDir, shopUrl, options)
  return { ...sandbox, close: () => sandbox.close().then(() => removeDataDir(dataDir)) }
}

/** Waits until `check` returns something. Fails with `what` after 30 s, which is enough for a busy machine. */
export async function until<T>(what: string, check: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + 30_000; ; await wait(10)) {
    const found = await check()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`)
  }
}

/** Calls the control API and returns its JSON; throws on a refusal. */
export async function control<T>(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${sandbox.url}/sandbox${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Opens a cart permalink and returns the checkout's address. */
export async function openCart(sandbox: Sandbox, cart: string): Promise<string> {
  const response = await fetch(`${sandbox.url}${cart}`, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (response.status !== 302 || !location) throw new Error(`${cart}: ${response.status}`)
  return new URL(location, sandbox.url).href
}
