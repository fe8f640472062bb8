// Demo mode: the whole shop on one machine, with its own database, platform, mailbox and proxy server. All data is
// under DATA_DIR. `main.ts dev` is the same for developers: vite serves the web app, and programs restart when their
// files change.
import { restartOnChange } from '../dev/restart.ts'
import { keepDatabase, preparationOf } from './database.ts'
import {
  agentEnvironment,
  checkPorts,
  type DemoSettings,
  freePort,
  isStartError,
  lockDataDir,
  makeDataDir,
  NO_HISTORY,
  readSettings,
  StartProblem
} from './settings.ts'
import type { HistoryOrder } from './make-history.ts'
import { type Program, startProgram, untilAnswers } from './programs.ts'
import { DEMO_ADMIN, DEMO_CUSTOMER } from './demo-texts.ts'

type Stop = () => Promise<void>

/** A Node option: much memory is short-lived there, and larger collections take a tenth of the time. */
const ROOM_FOR_YOUNG = '--max-semi-space-size=64'

const databaseDirOf = (dataDir: string): string => `${dataDir}/postgres`

const dev = process.argv[2] === 'dev'

async function run(): Promise<void> {
  const stops: Stop[] = []
  let stopping = false
  const stop = async (code: number) => {
    if (stopping) return
    stopping = true
    for (const end of stops.toReversed()) await end().catch((error: unknown) => console.error(error))
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
  process.on('disconnect', () => void stop(0))
  try {
    // First, and held to the end: two starts on one folder would disturb each other's database and agent.
    lockDataDir(makeDataDir(process.env))
    const settings = readSettings(process.env)
    await checkPorts(settings)
    const programs = await start(settings, stops, () => stopping)
    if (!programs) return
    for (const program of programs) {
      void program.ended.then(code => {
        if (!stopping)
          console.error(`${program.name} ended (${code ?? 'killed'}), so everything stops. Its last lines are above.`)
        return stop(1)
      })
    }
    announce(settings)
  } catch (error) {
    console.error(isStartError(error) ? error.message : error)
    await stop(1)
  }
}

/** Starts the database, then the programs, each after what it needs. */
async function start(settings: DemoSettings, stops: Stop[], stopping: () => boolean): Promise<Program[] | null> {
  const { dataDir, secrets, port, platformPort, agentPort } = settings
  const url = `http://127.0.0.1:${port}`
  const platformUrl = `http://127.0.0.1:${platformPort}`
  const startOne = (name: string, args: string[], env: Record<string, string>) => {
    const program = startProgram(name, args, env)
    stops.push(() => program.stop())
    return program
  }
  const startWatched = (name: string, args: string[], env: Record<string, string>, folders: string[]) => {
    if (!dev) return startOne(name, args, env)
    const program = restartOnChange(() => startProgram(name, args, env), [...folders, 'packages/contract/src'])
    stops.push(() => program.stop())
    return program
  }
  const building = dev ? null : startOne('The build of the web app', ['scripts/build-web.ts'], {})
  const baseEnv = {
    NETLET_DEMO: '1',
    APP_SECRET: secrets.appSecret,
    PORT: String(port),
    PUBLIC_URL: process.env['PUBLIC_URL'] ?? url,
    SENDGRID_URL: platformUrl,
    DISCORD_URL: platformUrl,
    // The stand-in on this machine receives all webhooks. Customers can reach only its catcher page.
    WEBHOOK_ORIGINS: platformUrl,
    CUSTOMER_WEBHOOK_URLS: `${platformUrl}/hooks/in/`,
    CHECK_GOOGLE_URL: `${platformUrl}/check/google`,
    CHECK_BING_URL: `${platformUrl}/check/bing`,
    CHECK_AMAZON_URL: `${platformUrl}/check/amazon`,
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn'
  }
  const databaseDir = process.env['DATABASE_URL'] ? null : databaseDirOf(dataDir)
  const preparation = preparationOf(databaseDir, settings, baseEnv.PUBLIC_URL)
  const withHistory = process.env['DEMO_HISTORY'] !== '0'
  // Start early, because it loads its modules in parallel.
  const making =
    withHistory && preparation.wantsHistory()
      ? startOne('The making of the history', [ROOM_FOR_YOUNG, 'scripts/demo/make-history.ts'], baseEnv)
      : null
  const { databaseUrl, databasePort } = await openDatabase(dataDir, stops)
  if (stopping()) return null
  const shopEnv = { ...baseEnv, DATABASE_URL: databaseUrl }
  if (!withHistory && preparation.wantsHistory()) preparation.markHistorySettled()
  // Before the stand-ins, which load the states that the history leaves.
  if (making) {
    console.log('The demo gets some days of history; this takes a moment, once.')
    preparation.markHistoryBegun()
    const begun = performance.now()
    making.tell({ databaseUrl } satisfies HistoryOrder)
    const code = await making.ended
    if (stopping()) return null
    if (code === 0) {
      preparation.markDone()
      console.log(`The history is there; it was made in ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
    }
    if (code === 0 || code === NO_HISTORY) preparation.markHistorySettled()
    else console.error('The history could not be made; the demo starts without it, and the next start tries again.')
  }
  const platformEnv = {
    PLATFORM_PORT: String(platformPort),
    DATA_DIR: dataDir,
    SANDBOX_SHOP_URL: url,
    SANDBOX_ACCESS_TOKEN: secrets.platformToken,
    SANDBOX_APP_SECRET: secrets.platformSecret,
    SANDBOX_DISCORD_CLIENT_ID: 'netlet-demo',
    SANDBOX_DISCORD_CLIENT_SECRET: secrets.discordSecret,
    SANDBOX_DISCORD_BOT_TOKEN: secrets.botToken,
    SANDBOX_HOOK_SECRET: secrets.hookSecret
  }
  const platform = startWatched('The stand-in platform', ['apps/sandbox/src/main.ts'], platformEnv, [
    'apps/sandbox/src'
  ])
  const agentEnv = {
    ...agentEnvironment(settings, dataDir),
    // Proxy users must not reach its database.
    AGENT_PROTECTED_PORTS: String(databasePort),
    LOG_LEVEL: 'warn'
  }
  const agent = startWatched('The node agent', ['apps/agent/src/main.ts'], agentEnv, ['apps/agent/src'])
  // Vite listens on PORT and forwards the shop's paths to this port.
  const shopPort = dev ? await freePort() : port
  const web = dev
    ? startOne('The dev server of the web app', ['scripts/dev/web.ts'], {
        PORT: String(port),
        SHOP_URL: `http://127.0.0.1:${shopPort}`
      })
    : null
  const waitForDependencies = async () => {
    await answers(`${platformUrl}/outbox.json`, platform)
    await answers(`http://127.0.0.1:${agentPort}/healthz`, agent)
  }
  if (!preparation.done()) {
    // Before anything is written, because another shop on this folder would lose its agent's address.
    await waitForDependencies()
    await succeeds(startOne('The preparation of the demo', ['scripts/demo/prepare.ts'], shopEnv))
    preparation.markDone()
  }
  if (building) await succeeds(building)
  if (stopping()) return null
  const server = startWatched(
    'The shop',
    ['apps/server/src/main.ts', 'all'],
    dev ? { ...shopEnv, PORT: String(shopPort), HOST: '127.0.0.1', TRUST_PROXY: '127.0.0.1' } : shopEnv,
    ['apps/server/src', 'apps/server/migrations']
  )
  await waitForDependencies()
  await answers(`http://127.0.0.1:${shopPort}/readyz`, server)
  if (web) await answers(url, web)
  return [platform, agent, server, ...(web ? [web] : [])]
}

async function succeeds(program: Program): Promise<void> {
  if ((await program.ended) !== 0) throw new StartProblem(`${program.name} failed; its own lines above say why.`)
}

async function answers(url: string, program: Program): Promise<void> {
  if (!(await untilAnswers(url, program)))
    throw new StartProblem(`${program.name} did not start; its own lines above say why.`)
}

async function openDatabase(dataDir: string, stops: Stop[]): Promise<{ databaseUrl: string; databasePort: number }> {
  const given = process.env['DATABASE_URL']
  if (given)
    return { databaseUrl: given, databasePort: URL.canParse(given) ? Number(new URL(given).port) || 5432 : 5432 }
  const database = await keepDatabase(databaseDirOf(dataDir), line => console.error(line)).catch((error: Error) => {
    throw new StartProblem(error.message)
  })
  stops.push(() => database.stop())
  return { databaseUrl: database.url, databasePort: database.port }
}

function announce({ port, platformPort, proxyPort }: DemoSettings): void {
  console.log(`
  Netlet is running${dev ? ' for development: a changed file is live at once' : ''}.

  Shop       http://127.0.0.1:${port}
  Mail       http://127.0.0.1:${platformPort}/outbox
  Webhooks   http://127.0.0.1:${platformPort}/hooks   (a stand-in for a customer's server)
  Platform   http://127.0.0.1:${platformPort}   (a stand-in: its checkout takes no real money; products, discounts, customers)
  Chat       http://127.0.0.1:${platformPort}/chat   (a stand-in: write there, and the shop's bot gives coins)
  Notices    http://127.0.0.1:${platformPort}/chat/operators   (what the shop tells its operators)
  Status     http://127.0.0.1:${port}/status
  Proxies    127.10.x.y:${proxyPort}

  Customer   ${DEMO_CUSTOMER.username} / ${DEMO_CUSTOMER.password}
  Admin      ${DEMO_ADMIN.username} / ${DEMO_ADMIN.password}

  Buy a plan, then:  curl -x http://USER:PASSWORD@IP:${proxyPort} http://127.0.0.1:${platformPort}/echo
  Ctrl+C stops everything. The data stay.
`)
}

await run()
