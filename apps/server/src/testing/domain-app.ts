import type { BodyOf, Envelope, ParamsOf, ReplyOf, Route } from '@netlet/contract'
import { pino } from 'pino'
import { readConfig } from '../platform/config.ts'
import { closeDatabase, openDatabase } from '../platform/db/client.ts'
import { createApp } from '../platform/http/app.ts'
import { mounter, type Caller, type Mount } from '../platform/http/mount.ts'
import { openJobs, type JobQueue } from '../platform/jobs.ts'
import { createSecrets } from '../platform/secrets.ts'
import type { Shop } from '../platform/shop.ts'
import { createTestDatabase } from './database.ts'

type AnyRoute = Route
type Who = { id: number; username: string; isSuperuser: boolean }

/** Input of a call; `as` left out: a visitor. `raw` and `headers` are for calls that a third party makes. */
export type CallInput<R> = {
  params?: ParamsOf<R>
  query?: Record<string, string>
  body?: BodyOf<R>
  as?: Who
  headers?: Record<string, string>
}

export type CallReply<R> = Envelope<ReplyOf<R>> & { status: number; raw: string; type: string }

export type DomainApp = {
  shop: Shop
  mount: Mount
  call<R extends AnyRoute>(route: R, input?: CallInput<R>): Promise<CallReply<R>>
  close(): Promise<void>
}

/**
 * A server with the calls of a few domains on a database of its own. Who calls is taken on trust from the test: what
 * sessions and keys do is the accounts' business and tested there.
 */
export async function startDomainApp(options: {
  mount: ((mount: Mount, shop: Shop) => void)[]
  queues?: JobQueue<object>[]
  now?: () => Date
}): Promise<DomainApp> {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { max: 12 })
  const log = pino({ level: 'silent' })
  const appSecret = 'a secret of the tests, long enough for the rules'
  const config = readConfig({ DATABASE_URL: database.url, APP_SECRET: appSecret, NETLET_NEWCOMER: '1' })
  const jobs = await openJobs({ databaseUrl: database.url, worker: true, log, queues: options.queues ?? [] })
  const shop: Shop = {
    config,
    db,
    jobs,
    log,
    now: options.now ?? (() => new Date()),
    secrets: createSecrets(appSecret)
  }
  const app = await createApp({ log, trustProxy: false })
  const mount = mounter(app, {
    authenticate: async request => {
      const who = request.headers['x-caller']
      if (typeof who !== 'string') return null
      return { ...(JSON.parse(who) as Who), sessionHash: null, impersonatorId: null, scopes: null } satisfies Caller
    },
    fromOurOrigin: () => true
  })
  for (const add of options.mount) add(mount, shop)
  return {
    shop,
    mount,
    async call(route, { params, query, body, as, headers } = {}) {
      const path = route.path.replace(/:(\w+)/g, (_, name: string) => String((params as Record<string, unknown>)[name]))
      const reply = await app.inject({
        method: route.method,
        url: path,
        query: { ...query },
        headers: {
          ...(as ? { 'x-caller': JSON.stringify(as) } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers
        },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) })
      })
      const type = reply.headers['content-type'] ?? ''
      const envelope = type.includes('json') ? reply.json<Envelope<never>>() : { code: 0, data: null as never, msg: '' }
      return { ...envelope, status: reply.statusCode, raw: reply.body, type }
    },
    async close() {
      await app.close()
      await jobs.stop()
      await closeDatabase(db)
      await database.drop()
    }
  }
}
