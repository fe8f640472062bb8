import { feedWatchdog, notifySystemd } from '@netlet/contract/systemd'
import type { FastifyInstance } from 'fastify'
import { sql } from './infra/db/drizzle.ts'
import { createHttpApp } from './app.ts'
import { openApp } from './open-app.ts'
import { readConfig } from './infra/config.ts'
import type { AppContext } from './infra/context.ts'
import { StartupError } from './infra/db/migrate.ts'
import { watchSchema } from './infra/db/newer-schema.ts'
import { watchDatabase } from './infra/db/watchdog.ts'
import { createApp } from './infra/http/app.ts'
import { healthRoutes } from './infra/http/health.ts'
import { shopMetrics } from './shop-metrics.ts'

// serve: API and web. worker: background jobs. all: both in one process, for small installations.
const MODES = ['serve', 'worker', 'all'] as const
type Mode = (typeof MODES)[number]

/** How long open requests may take when the process is asked to end. */
const CLOSE_MS = 3000
/** After this time the process ends anyway, before its supervisor kills it (Docker after 10 s). */
const END_MS = 8000
/** The exit code if this process cannot reach its database, but a new one could. */
const STUCK = 75

async function start(mode: Mode): Promise<void> {
  const config = readConfig(process.env)
  const { ctx, close } = await openApp(config, { worker: mode !== 'serve', serves: mode !== 'worker' })
  const app = await listen(ctx, mode)
  ctx.log.info({ mode, address: app?.addresses() }, 'started')
  const address = app?.server.address()
  process.send?.({ ready: true, port: typeof address === 'object' ? address?.port : undefined })
  const tell = (what: string) =>
    notifySystemd(process.env, what).catch((error: unknown) => ctx.log.warn({ err: error }, 'systemd was not told'))
  void tell('READY=1')
  const stopFeeding = feedWatchdog(process.env, () => true)

  const unwatch = watchDatabase({
    databaseUrl: config.sessionUrl,
    log: ctx.log,
    answers: async () => {
      await ctx.db.execute(sql`select 1`)
      return ctx.jobs.healthy()
    },
    onStuck: () => process.exit(STUCK)
  })
  const unwatchSchema = watchSchema({
    db: ctx.db,
    log: ctx.log,
    onNewer: () => void stop('a newer version has migrated the database')
  })
  let stopping = false
  const stop = async (why: string) => {
    if (stopping) return
    stopping = true
    ctx.log.info({ mode, why }, 'ending')
    void tell('STOPPING=1')
    unwatch()
    unwatchSchema()
    stopFeeding()
    // A silent agent, platform or database must not hold the process. Its jobs' heartbeat makes them available.
    setTimeout(() => {
      ctx.log.warn('not all that ran has ended in time')
      process.exit(1)
    }, END_MS)
    // A connection without a request would keep the process alive.
    const deadline = setTimeout(() => app?.server.closeAllConnections(), CLOSE_MS)
    await app?.close()
    clearTimeout(deadline)
    await close()
    ctx.log.info({ mode, seconds: Math.round(process.uptime()) }, 'ended')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  // The parent process is gone and will not stop us.
  if (process.send) process.on('disconnect', () => void stop('its parent process has ended'))
}

/** The HTTP side, or a worker's health and metrics; null: none. */
async function listen(ctx: AppContext, mode: Mode): Promise<FastifyInstance | null> {
  const { config } = ctx
  if (mode !== 'worker') return listenOn(await createHttpApp(ctx), config.host, config.port, { of: '' })
  if (config.workerPort === null) return null
  const app = await createApp({ log: ctx.log, trustProxy: false })
  healthRoutes(app, ctx, shopMetrics(ctx))
  return listenOn(app, config.workerHost, config.workerPort, { of: 'WORKER_' })
}

async function listenOn(
  app: FastifyInstance,
  host: string,
  port: number,
  { of }: { of: '' | 'WORKER_' }
): Promise<FastifyInstance> {
  await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new StartupError(`Port ${port} is in use. Stop the program that uses it, or set ${of}PORT to a free one.`)
    if (error.code === 'EACCES')
      throw new StartupError(`Port ${port} needs more rights. Set ${of}PORT to one above 1023.`)
    if (error.syscall === 'getaddrinfo' || error.code === 'EADDRNOTAVAIL')
      throw new StartupError(`${host} is no address of this machine (${error.code}). Set ${of}HOST to one of its own.`)
    throw error
  })
  return app
}

const mode = MODES.find(known => known === process.argv[2])
if (!mode) {
  console.error(`Name what to start: ${MODES.join(', ')}`)
  process.exit(2)
}
start(mode).catch((error: unknown) => {
  // A person fixes a configuration error with one line; everything else is a bug and needs its stack.
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
})
