import { sql } from './infra/db/drizzle.ts'
import { createHttpApp } from './app.ts'
import { openApp } from './open-app.ts'
import { readConfig } from './infra/config.ts'
import { StartupError } from './infra/db/migrate.ts'
import { watchDatabase } from './infra/db/watchdog.ts'

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
  const app = mode === 'worker' ? null : await createHttpApp(ctx)
  if (app) {
    await app.listen({ host: config.host, port: config.port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new StartupError(`Port ${config.port} is in use. Stop what uses it, or set PORT to a free one.`)
      if (error.code === 'EACCES')
        throw new StartupError(`Port ${config.port} needs more rights. Set PORT to one above 1023.`)
      throw error
    })
  }
  ctx.log.info({ mode, address: app?.addresses() }, 'started')
  const address = app?.server.address()
  process.send?.({ ready: true, port: typeof address === 'object' ? address?.port : undefined })

  const unwatch = watchDatabase({
    databaseUrl: config.databaseUrl,
    log: ctx.log,
    answers: async () => {
      await ctx.db.execute(sql`select 1`)
      return ctx.jobs.healthy()
    },
    onStuck: () => process.exit(STUCK)
  })
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    unwatch()
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
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
  // The parent process is gone and will not stop us.
  if (process.send) process.on('disconnect', () => void stop())
}

const mode = MODES.find(known => known === process.argv[2])
if (!mode) {
  console.error(`Say what to start: ${MODES.join(', ')}`)
  process.exit(2)
}
start(mode).catch((error: unknown) => {
  // A person fixes a configuration error with one line; everything else is a bug and needs its stack.
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
})
