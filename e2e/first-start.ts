import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../apps/server/src/infra/postgres/embedded.ts'
import { startProgram, untilAnswers, type Program } from '../scripts/demo/programs.ts'
import { freePorts } from '../apps/server/src/testing/free-ports.ts'

/** Values that an operator copies from the platform into Web Settings. */
const PLATFORM = { token: 'operators-day-token', secret: 'operators-day-secret' }

export type EmptyShop = {
  url: string
  /** The stand-in for platform, checkout and mail service. */
  platformUrl: string
  platform: typeof PLATFORM
  admin: { username: string; password: string }
  databaseUrl: string
  /** A folder for the test's own files, removed at the end. */
  folder: string
  /** Starts another of our programs, which ends with the shop. */
  start(name: string, args: string[], env: Record<string, string>): Program
  stop(): Promise<void>
}

/**
 * Starts a shop as in production: an empty database and one administrator. The stand-in platform runs too, but the shop
 * is not connected to it.
 * @param env additional environment of the shop
 */
export async function startEmptyShop(env: Record<string, string> = {}): Promise<EmptyShop> {
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'netlet-day-'))
    ends.push(() => rm(folder, { recursive: true, force: true }))
    // The embedded database may run under another account, which must traverse this folder.
    await chmod(folder, 0o755)
    const start = (name: string, args: string[], more: Record<string, string>) => {
      const program = startProgram(name, args, { NODE_ENV: '', LOG_LEVEL: 'warn', ...more })
      ends.push(() => program.stop())
      return program
    }
    const [port = 0, platformPort = 0] = await freePorts(2)
    const url = `http://127.0.0.1:${port}`
    const platformUrl = `http://127.0.0.1:${platformPort}`
    const admin = { username: 'owner1', password: 'Harbour#2026' }
    const platform = start('The stand-in platform', ['apps/sandbox/src/main.ts'], {
      PLATFORM_PORT: String(platformPort),
      DATA_DIR: folder,
      SANDBOX_SHOP_URL: url,
      SANDBOX_ACCESS_TOKEN: PLATFORM.token,
      SANDBOX_APP_SECRET: PLATFORM.secret
    })
    const building = start('The build of the web app', ['scripts/build-web.ts'], {})
    const database = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: () => {} })
    ends.push(() => database.stop())
    if ((await building.ended) !== 0) throw new Error('The web app was not built')
    const shop = start('The shop', ['apps/server/src/main.ts', 'all'], {
      NETLET_DEMO: '',
      DATABASE_URL: database.url,
      APP_SECRET: 'a secret of this test and of nothing else',
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: url,
      ALLOW_LOOPBACK_PUBLIC_URL: '1',
      ADMIN_USERNAME: admin.username,
      ADMIN_PASSWORD: admin.password,
      ADMIN_EMAIL: 'owner@example.com',
      SENDGRID_URL: platformUrl,
      CHECK_GOOGLE_URL: `${platformUrl}/check/google`,
      CHECK_BING_URL: `${platformUrl}/check/bing`,
      CHECK_AMAZON_URL: `${platformUrl}/check/amazon`,
      ...env
    })
    for (const [address, program] of [
      [`${platformUrl}/outbox.json`, platform],
      [`${url}/readyz`, shop]
    ] as const) {
      if (!(await untilAnswers(address, program, 120_000))) throw new Error(`${program.name} did not start`)
    }
    return {
      url,
      platformUrl,
      platform: PLATFORM,
      admin,
      databaseUrl: database.url,
      folder,
      start,
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}
