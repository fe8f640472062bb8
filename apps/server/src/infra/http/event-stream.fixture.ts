import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { onTestFinished, vi } from 'vitest'
import { accountPorts } from '../../ports.ts'
import { accountRoutes, createAuthenticator } from '../../domains/accounts/index.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop } from '../../testing/shop.ts'
import type { AppContext } from '../context.ts'
import { createApp } from './app.ts'
import { eventStreamRoutes, type EventStreamOptions } from './event-stream.ts'
import { mounter } from './mount.ts'
import { serveWeb } from './web.ts'

type Options = Partial<Omit<EventStreamOptions, 'app'>>

/** The routes of accounts and the stream, with a heartbeat that is short enough for tests. */
const composing = (options: Options) => async (ctx: AppContext) => {
  const app = await createApp({ log: ctx.log, trustProxy: '127.0.0.1' })
  const authenticator = createAuthenticator(ctx)
  const mount = mounter(app, authenticator)
  eventStreamRoutes(mount, ctx, { app, authenticator, heartbeatMs: 100, ...options })
  accountRoutes(mount, ctx, accountPorts(ctx))
  await serveWeb(app, ctx.config, { folder: '/nowhere' })
  return app
}
export const startShop = (options: Options = {}) => startTestShop({ app: composing(options) })
export const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 20 })

type Stream = {
  status: number
  headers: IncomingMessage['headers']
  text: () => string
  events: () => { id?: string; event?: string; data?: unknown }[]
  ended: () => boolean
  response: IncomingMessage
  close: () => void
}

export async function openStream(
  { url }: { url: string },
  client: TestClient,
  headers: Record<string, string> = {}
): Promise<Stream> {
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const asked = request(`${url}/api/events`, { agent: false, headers: { cookie, ...headers } })
  onTestFinished(() => void asked.destroy())
  asked.on('error', () => undefined)
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  let ended = false
  response.setEncoding('utf8')
  response.on('data', (part: string) => (text += part))
  response.on('error', () => undefined)
  response.on('close', () => (ended = true))
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    events: () =>
      text
        .split('\n\n')
        .map(block => Object.fromEntries(block.split('\n').map(line => line.split(/: (.*)/s).slice(0, 2))))
        .filter(({ event }) => event)
        .map(({ id, event, data }) => ({ ...(id ? { id } : {}), event, data: JSON.parse(data) as unknown })),
    ended: () => ended,
    response,
    close: () => asked.destroy()
  }
}

/** The changes of a stream, without the sign-ups of the test's users. */
export const changesIn = (stream: Stream) =>
  stream
    .events()
    .flatMap(({ data }) => (data as { changes?: { resource: string }[] }).changes ?? [])
    .filter(({ resource }) => resource !== 'user')
