import { NoticeRules, type NoticeCause } from '@netlet/contract'
import { asc, eq } from '../../infra/db/drizzle.ts'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SYSTEM } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { readOperators } from '../accounts/index.ts'
import { mailJobs } from '../mail/index.ts'
import { createChannel } from './channels.ts'
import type { Found, NoticeFinder } from './found.ts'
import { noticeJobs, noticeRoutes, type NoticePorts } from './index.ts'
import { saveRules } from './rules.ts'
import { sendNotice } from './send.ts'
import { noticeChannels, notices, noticeSends } from './tables.ts'
import { watchNotices } from './watch.ts'

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

type Received = { path: string; headers: IncomingMessage['headers']; body: string }

/** A receiver that stores its requests and replies as the test says. */
async function startReceiver() {
  const received: Received[] = []
  const state = { answer: (_reply: ServerResponse): void => void _reply.writeHead(204).end() }
  const server = createServer((request, reply) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString('utf8') })
      state.answer(reply)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    received,
    state,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** A shop whose problems the test sets, with the test's own clock. */
export async function openWorld(at = '2026-06-15T12:00:00Z') {
  const receiver = await startReceiver()
  let time = Date.parse(at)
  const found = new Map<NoticeCause, Found[]>()
  const fails = new Set<NoticeCause>()
  /** Returns the problems in `found`. */
  const finderOf = (cause: NoticeCause): NoticeFinder => ({
    cause,
    every: 1,
    async find() {
      if (fails.has(cause)) throw new Error('the database is away')
      return found.get(cause) ?? []
    }
  })
  const searched: NoticeCause[] = ['server_down', 'undelivered', 'stock', 'mails', 'prices']
  const ports: NoticePorts = {
    finders: [...searched.map(finderOf), { ...finderOf('order_trouble'), complete: true }],
    operators: readOperators,
    ownsAddresses: async () => false,
    timeoutMs: 30_000
  }
  const shop: TestShop = await startTestShop({
    routes: (mount, ctx) => noticeRoutes(mount, ctx, ports),
    queues: [...mailJobs, ...noticeJobs(ports)].map(({ queue }) => queue),
    config: { webhookOrigins: [receiver.url] },
    now: () => new Date(time)
  })
  const { ctx } = shop
  await ctx.db.delete(noticeChannels)
  return {
    shop,
    ctx,
    ports,
    receiver,
    found,
    fails,
    pass: (ms: number) => void (time += ms),
    at: (instant: string) => void (time = Date.parse(instant)),
    watch: (context: AppContext = ctx) => watchNotices(context, ports.finders),
    rules: async (rules: object) => {
      const saved = await saveRules(ctx, SYSTEM, NoticeRules.parse(rules))
      if (!saved.ok) throw new Error(saved.reason)
    },
    async channel(form: Partial<Parameters<typeof createChannel>[3]> = {}) {
      const made = await createChannel(ctx, SYSTEM, ports, {
        name: 'Receiver',
        kind: 'webhook',
        target: `${receiver.url}/hook`,
        user_ids: [],
        language: 'en',
        secret: SECRET,
        tell_critical: true,
        tell_warning: true,
        tell_info: true,
        digest: false,
        enabled: true,
        ...form
      })
      if (!made.ok) throw new Error(made.reason)
      return made.data
    },
    /** Sends what is due now, as the jobs would. */
    async sendDue(job = 'job') {
      const due = await ctx.db
        .select()
        .from(noticeSends)
        .where(eq(noticeSends.state, 'waiting'))
        .orderBy(asc(noticeSends.id))
      for (const { id, dueAt } of due) if (dueAt <= ctx.now()) await sendNotice(ctx, ports, id, job)
    },
    said: () => receiver.received.splice(0).map(({ body }) => (JSON.parse(body) as { type: string }).type),
    rows: () => ctx.db.select().from(notices).orderBy(asc(notices.id)),
    sends: () => ctx.db.select().from(noticeSends).orderBy(asc(noticeSends.id)),
    /** Clears all problems, notices and channels. */
    async clear() {
      found.clear()
      fails.clear()
      receiver.received.length = 0
      receiver.state.answer = reply => void reply.writeHead(204).end()
      await ctx.db.delete(notices)
      await ctx.db.delete(noticeChannels)
    },
    async close() {
      await shop.close()
      await receiver.close()
    }
  }
}
