import type { FastifyInstance } from 'fastify'
import { createAuthenticator, SESSION_COOKIE } from '../domains/accounts/index.ts'
import { insertUser } from '../domains/accounts/create-user.ts'
import { hashPassword } from '../domains/accounts/passwords.ts'
import { sendMailQueue } from '../domains/mail/index.ts'
import { raiseNoticeQueue } from '../domains/notices/index.ts'
import { writeSettings } from '../domains/settings/index.ts'
import { command } from '../infra/command.ts'
import { openChangeFeed } from '../infra/change-feed.ts'
import type { Clock } from '../infra/clock.ts'
import type { Config } from '../infra/config.ts'
import { closeDatabase, openDatabase } from '../infra/db/client.ts'
import { createApp } from '../infra/http/app.ts'
import { mounter, type Mount } from '../infra/http/mount.ts'
import type { Job } from '../infra/job.ts'
import { openJobs, type JobQueue } from '../infra/jobs.ts'
import { createLog } from '../infra/log.ts'
import { createSecrets } from '../infra/secrets.ts'
import { SYSTEM } from '../infra/actor.ts'
import type { AppContext } from '../infra/context.ts'
import { createTestClient, type TestClient } from './client.ts'
import { createTestDatabase } from './database.ts'
import { createJobRunner } from './drain.ts'
import { addSession } from './session.ts'
import { startTestOutbox, type TestOutbox } from './outbox.ts'

export type TestUser = { id: number; username: string; email: string; password: string }

export type TestShopOptions = {
  /** The calls that the test needs. Without `routes` and `app` it is the whole shop with all queues. */
  routes?: (mount: Mount, ctx: AppContext, app: FastifyInstance) => void
  /** Instead of `routes`: a whole composition. */
  app?: (ctx: AppContext) => Promise<FastifyInstance>
  /** Queues in addition to the one of mail. */
  queues?: JobQueue<object>[]
  /** Jobs that `drain` runs, with their queues. */
  jobs?: Job[]
  /** Registers workers that run jobs on their own, for tests of workers. */
  workers?: (ctx: AppContext) => Promise<void>
  config?: Partial<Config>
  /** The test's own clock. By default the machine's, which `advance` moves ahead. */
  now?: Clock
}

export type TestShop = {
  ctx: AppContext
  app: FastifyInstance
  /** Its address, without a trailing slash. */
  url: string
  outbox: TestOutbox
  /** Runs the jobs that are due, see `JobRunner`. @returns their queues in order */
  drain(): Promise<string[]>
  /** Moves the shop's clock ahead; without effect on the test's own clock. */
  advance(milliseconds: number): void
  visitor(options?: { ip?: string }): TestClient
  /** A new user, signed in. */
  customer(user?: Partial<Omit<TestUser, 'id'>>): Promise<TestClient & { user: TestUser }>
  admin(user?: Partial<Omit<TestUser, 'id'>>): Promise<TestClient & { user: TestUser }>
  close(): Promise<void>
}

export const TEST_PASSWORD = 'Harbour#2026'

const hashes = new Map<string, Promise<string>>()

/** Once for each password: a hash costs more than most tests. */
function hashOf(password: string): Promise<string> {
  const made = hashes.get(password) ?? hashPassword(password)
  hashes.set(password, made)
  return made
}

/** A shop that listens on loopback, with its own database. `close()` it in `afterAll`. */
export async function startTestShop(options: TestShopOptions): Promise<TestShop> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of opened.toReversed()) await end()
    opened.length = 0
  }
  try {
    const database = await createTestDatabase()
    opened.push(() => database.drop())
    const outbox = await startTestOutbox()
    opened.push(() => outbox.close())
    const config: Config = { ...testConfig(database.url, outbox.url), ...options.config }
    const log = createLog('test', config.logLevel)
    const db = openDatabase(database.url)
    opened.push(() => closeDatabase(db))
    const { compose, queues } = await composition(options)
    const always: JobQueue<object>[] = [sendMailQueue, raiseNoticeQueue]
    const jobs = await openJobs({
      db,
      listenUrl: options.workers ? database.url : null,
      log,
      queues: [...always, ...queues.filter(queue => always.every(({ name }) => name !== queue.name))]
    })
    opened.push(() => jobs.stop())
    const changes = await openChangeFeed({ databaseUrl: database.url, db, log })
    opened.push(() => changes.stop())
    let ahead = 0
    const ctx: AppContext = {
      config,
      db,
      jobs,
      log,
      now: options.now ?? (() => new Date(Date.now() + ahead)),
      secrets: createSecrets(config.appSecret, config.formerAppSecret),
      changes
    }
    await writeSettings(ctx, {
      sendgrid_api_key: 'test',
      email_from: 'Netlet <shop@example.com>',
      // Tests move the clock by months.
      operators_need_second_factor: false,
      operator_session_hours: 8760,
      operator_confirm_minutes: 525_600,
      customer_session_days: 3650
    })
    const runner = createJobRunner(ctx, options.jobs ?? [])
    opened.push(() => runner.close())
    if (options.jobs) outbox.drainWith(() => runner.drain())
    await options.workers?.(ctx)
    const app = await compose(ctx)
    opened.push(() => app.close())
    const url = await app.listen({ host: '127.0.0.1', port: 0 })

    let count = 0
    async function signedIn(isSuperuser: boolean, wanted: Partial<Omit<TestUser, 'id'>> = {}) {
      count += 1
      const username = wanted.username ?? `${isSuperuser ? 'boss' : 'user'}${count}`
      const user = { username, email: `${username}@example.com`, password: TEST_PASSWORD, ...wanted }
      const passwordHash = await hashOf(user.password)
      const id = await command(ctx, SYSTEM, unit => insertUser(unit, { ...user, passwordHash, isSuperuser }))
      const client = createTestClient(url)
      client.cookies.set(SESSION_COOKIE, await addSession(ctx, id))
      return { ...client, user: { id, ...user } }
    }

    return {
      ctx,
      app,
      url,
      outbox,
      drain: () => runner.drain(),
      advance(milliseconds) {
        ahead += milliseconds
      },
      visitor: visitorOptions => createTestClient(url, visitorOptions),
      customer: user => signedIn(false, user),
      admin: user => signedIn(true, user),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Composition = { compose: (ctx: AppContext) => Promise<FastifyInstance>; queues: JobQueue<object>[] }

async function composition({ app, routes, jobs = [], ...rest }: TestShopOptions): Promise<Composition> {
  const queues = [...(rest.queues ?? []), ...jobs.map(job => job.queue)]
  if (app) return { compose: app, queues }
  if (!routes) {
    // Loaded only here, because most tests need one domain and should not wait for all.
    const [{ createHttpApp }, { allQueues }] = await Promise.all([import('../app.ts'), import('../workers.ts')])
    return { compose: createHttpApp, queues: allQueues }
  }
  return {
    queues,
    async compose(shop) {
      const created = await createApp({ log: shop.log, trustProxy: shop.config.trustProxy })
      routes(mounter(created, createAuthenticator(shop)), shop, created)
      return created
    }
  }
}

const testConfig = (databaseUrl: string, outboxUrl: string): Config => ({
  demo: false,
  host: '127.0.0.1',
  port: 0,
  workerPort: null,
  workerHost: '127.0.0.1',
  databaseUrl,
  sessionUrl: databaseUrl,
  pooled: false,
  connections: 10,
  appSecret: 'a secret of the tests and of nothing else',
  formerAppSecret: '',
  publicUrl: 'http://shop.example.com',
  secureCookies: false,
  // X-Forwarded-For sets a test client's address.
  trustProxy: '127.0.0.1',
  admin: undefined,
  sendgridUrl: outboxUrl,
  mailgunUrl: undefined,
  discordUrl: undefined,
  smtpUrl: undefined,
  dnsServers: [],
  checkSites: {
    google: 'http://127.0.0.1:9/google',
    bing: 'http://127.0.0.1:9/bing',
    amazon: 'http://127.0.0.1:9/amazon'
  },
  egressSite: null,
  webhookOrigins: [],
  customerWebhookUrls: [],
  install: { username: 'root', root: '' },
  consoleAddresses: [],
  logLevel: 'silent',
  accessLog: false,
  metricsToken: undefined
})
