import { startAgent } from '../../../apps/agent/src/agent.ts'
import { readConfig as readAgentConfig } from '../../../apps/agent/src/config.ts'
import { startSandbox } from '../../../apps/sandbox/src/sandbox.ts'
import { createHttpApp } from '../../../apps/server/src/app.ts'
import { MINUTE } from '../../../apps/server/src/infra/clock.ts'
import type { Config } from '../../../apps/server/src/infra/config.ts'
import type { AppContext } from '../../../apps/server/src/infra/context.ts'
import { createLog } from '../../../apps/server/src/infra/log.ts'
import { openApp } from '../../../apps/server/src/open-app.ts'
import { allJobs } from '../../../apps/server/src/workers.ts'
import { agentEnvironment, type DemoSettings } from '../settings.ts'
import { openBrowser } from './browser.ts'
import { createTimeline, moveClock } from './timeline.ts'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A generator of numbers from 0 up to 1 that is the same in every history (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The part of the shop's request that we read. */
type Posted = {
  personalizations: [{ to: [{ email: string }] }]
  content: { type: string; value: string }[]
}

/** A mail service that accepts every mail and keeps the newest text for each address. */
async function openMailbox() {
  const texts = new Map<string, string>()
  const server = createServer((request, response) => {
    const taken = async () => {
      const { personalizations, content } = (await json(request)) as Posted
      texts.set(personalizations[0].to[0].email, content.find(part => part.type === 'text/plain')?.value ?? '')
      response.writeHead(202, { 'x-message-id': crypto.randomUUID() }).end()
    }
    taken().catch(() => response.writeHead(400).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @throws if the newest mail to this address has no code */
    codeFor(email: string): string {
      const code = /\b\d{6}\b/.exec(texts.get(email) ?? '')?.[0]
      if (!code) throw new Error(`No code was mailed to ${email}`)
      return code
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

export type WorldOptions = {
  /** The config of the shop that will run on this data. Only the world uses its database until it is closed. */
  config: Config
  settings: DemoSettings
  /** The folder for the states of the stand-ins and the agent. */
  stateDir: string
  /** When the history begins. */
  start: Date
}

/** The whole shop in one process with a moved clock: shop, platform, agent and mail service. */
export async function openWorld({ config: shopConfig, settings, stateDir, start }: WorldOptions) {
  const ends: (() => Promise<unknown>)[] = []
  /** Closers of what uses the moved clock. */
  const movedEnds: (() => Promise<unknown>)[] = []
  const closeAll = async (some: (() => Promise<unknown>)[]) => {
    for (const end of some.splice(0).toReversed()) await end()
  }
  const close = async () => {
    await closeAll(movedEnds)
    await closeAll(ends)
  }
  try {
    const mailbox = await openMailbox()
    ends.push(() => mailbox.close())
    const config: Config = { ...shopConfig, sendgridUrl: mailbox.url, logLevel: 'silent' }
    const opened = await openApp(config, { worker: false })
    ends.push(() => opened.close())
    const clock = await moveClock(config.databaseUrl, start)
    ends.push(() => clock.release())
    const random = seededRandom(2026)
    const delay = (queue: string) => delayOf(queue, random())
    const timeline = createTimeline({ clock, jobs: allJobs, delay, queue: opened.ctx.jobs })
    const log = createLog('history', 'silent')
    const ctx: AppContext = { ...opened.ctx, config, log, now: clock.now, jobs: timeline.jobs }
    const app = await createHttpApp(ctx)
    movedEnds.push(() => app.close())
    await app.ready()

    const onTheirWay = new Set<Promise<unknown>>()
    /** Send webhooks to this process, whatever the shop's public address. */
    const tellShop: typeof fetch = async (...webhook) => {
      const request = new Request(...webhook)
      const tell = async () => {
        const headers = Object.fromEntries(request.headers)
        const url = new URL(request.url).pathname
        return app.inject({ method: 'POST', url, headers, payload: await request.text() })
      }
      const told = tell()
      onTheirWay.add(told)
      const { statusCode } = await told
      onTheirWay.delete(told)
      return new Response(null, { status: statusCode })
    }
    const { secrets, platformPort, port } = settings
    const platform = await startSandbox({
      port: platformPort,
      dataDir: stateDir,
      shopUrl: `http://127.0.0.1:${port}`,
      accessToken: secrets.platformToken,
      appSecret: secrets.platformSecret,
      discordClientId: 'netlet-demo',
      discordClientSecret: secrets.discordSecret,
      discordBotToken: secrets.botToken,
      now: () => clock.now().getTime(),
      fetch: tellShop,
      // An interrupted history is discarded.
      saveOnlyAtClose: true
    })
    movedEnds.push(() => platform.close())
    const agent = createAgent(settings, stateDir)
    await agent.start()
    movedEnds.push(() => agent.stop())

    return {
      ctx,
      clock,
      timeline,
      random,
      mailbox,
      agent,
      platformUrl: platform.url,
      browser: (as: { ip: string; userAgent: string; language: string }) => openBrowser(app, as),
      /** Waits until the shop has received all webhooks so far. */
      async told() {
        while (onTheirWay.size > 0) await Promise.all(onTheirWay)
      },
      /** Restores the database's time and hands remaining jobs to the shop. */
      async end() {
        await closeAll(movedEnds)
        await clock.release()
        await timeline.handOver(opened.ctx)
        await closeAll(ends)
      },
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** A node agent with its state, which can be stopped for a while. */
function createAgent(settings: DemoSettings, stateDir: string) {
  let running: { close: () => Promise<void> } | null = null
  return {
    async start() {
      const config = readAgentConfig({ ...agentEnvironment(settings, stateDir), AGENT_WORKERS: '0' })
      if (!config.ok) throw new Error(config.message)
      const started = await startAgent(config.config, { log: createLog('agent', 'silent') })
      if (!started.ok) throw new Error(started.message)
      running = started.agent
    },
    async stop() {
      await running?.close()
      running = null
    }
  }
}

/** Milliseconds a job waits and runs, as measured in a small shop. */
function delayOf(queue: string, luck: number): number {
  if (queue === 'settle-payment') return 250 + luck * 900
  // Sometimes an agent is slow.
  if (queue === 'converge-server') return luck > 0.93 ? 6000 + luck * 9000 : 500 + luck * 2600
  if (queue === 'send-mail') return 800 + luck * 3000
  if (queue === 'tag-platform-order') return 1500 + luck * 4000
  return Math.min(MINUTE, 200 + luck * 800)
}
