import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestClient } from '../../apps/server/src/testing/client.ts'
import { startShop, type RunningShop } from '../../e2e/shop.ts'
import { median, quantile, type Bench, type Figure } from '../figures.ts'
import type { Counts, Target } from './attackers.ts'

const MS = Number(process.env['BENCH_MS'] ?? 300_000)
/** Milliseconds. */
const HEALTHY = 250
const EVERY = 50
const LOGIN_EVERY = 5000
const HEAP_MB = 1024

/** The newcomer's shop with a heap of 1 GB, attacked in all ways at once while visitors go on. */
export const hostileBench: Bench = async log => {
  process.env['NODE_OPTIONS'] = `--max-old-space-size=${HEAP_MB}`
  const { shop, stop, output } = await startShop()
  const { url, admin, customer } = shop
  const target: Target = { url, admin, customer }
  // In a process of their own, because the attacks keep an event loop busy, and the visitors' would measure that.
  const attackers = fork(new URL('attackers.ts', import.meta.url), [JSON.stringify(target)], { serialization: 'json' })
  try {
    const stranger = await signUp(shop)
    const calm = await visitors(shop, stranger, AbortSignal.timeout(Math.min(MS, 10_000)))
    log(`load before: ${load()}`)
    attackers.send('begin')
    const found = await Promise.race([
      visitors(shop, stranger, AbortSignal.timeout(MS)),
      once(attackers, 'exit').then(() => Promise.reject(new Error('the attacks have ended')))
    ])
    const counted = once(attackers, 'message') as Promise<[Counts]>
    attackers.send('end')
    const [counts] = await counted
    log(`load after: ${load()}`)
    for (const [name, count] of counts) log(`${name}: ${count}`)
    for (const reason of new Set(found.refused)) log(`refused: ${reason}`)
    const after = await visitors(shop, stranger, AbortSignal.timeout(Math.min(MS, 5000)))
    return [...figuresOf(found, calm), ...aliveOf(after, output())]
  } finally {
    attackers.kill()
    await stop()
  }
}

type Seen = { health: number[]; failed: number; logins: number[]; refused: string[] }

type Account = { username: string; password: string }

/** A customer that no attack names. */
async function signUp({ url, platformUrl }: RunningShop): Promise<Account> {
  const [email, password] = ['stranger@example.com', 'Harbour#2026']
  const visitor = createTestClient(url, { ip: '100.65.0.1' })
  const asked = await visitor.post<{ email_code_id: string }>('/api/users/email_validate', { email, type: 'register' })
  for (;;) {
    const mails = (await (await fetch(`${platformUrl}/outbox.json`)).json()) as { to: string; text: string }[]
    const code = /\b\d{6}\b/.exec(mails.find(({ to }) => to === email)?.text ?? '')?.[0]
    if (code === undefined) {
      await sleep(100)
      continue
    }
    const form = { username: 'stranger', email, email_code: code, password, repassword: password, ...asked.data }
    const made = await visitor.post('/api/users/u/', form)
    if (made.code !== 2000) throw new Error(`no account: ${made.msg}`)
    return { username: 'stranger', password }
  }
}

/** Asks for health and logs in with the right password, each time from another client. */
async function visitors(shop: RunningShop, account: Account, over: AbortSignal): Promise<Seen> {
  const seen: Seen = { health: [], failed: 0, logins: [], refused: [] }
  const timed = async (work: () => Promise<boolean>, samples: number[]) => {
    const start = performance.now()
    const good = await work().catch(() => false)
    samples.push(performance.now() - start)
    return good
  }
  const every = async (pause: number, work: () => Promise<unknown>) => {
    while (!over.aborted) {
      await work()
      await sleep(pause)
    }
  }
  let nth = 0
  const logIn = async () => {
    const stranger = createTestClient(shop.url, { ip: `100.64.${nth++ % 250}.1` })
    await timed(async () => {
      const reply = await stranger.post('/api/auth/login', account)
      if (reply.code !== 2000) seen.refused.push(`${reply.code} ${reply.msg}`)
      return reply.code === 2000
    }, seen.logins)
  }
  await Promise.all([
    every(EVERY, async () => {
      const healthy = async () => (await fetch(`${shop.url}/healthz`)).status === 200
      if (!(await timed(healthy, seen.health))) seen.failed++
    }),
    every(LOGIN_EVERY, logIn)
  ])
  return seen
}

function figuresOf(found: Seen, calm: Seen): Figure[] {
  const [p50, p99, longest] = [median(found.health), quantile(found.health, 0.99), Math.max(...found.health)]
  return [
    {
      what: `/healthz under attack, ${found.health.length} calls`,
      measured: `median ${p50.toFixed(1)}, p99 ${p99.toFixed(0)}, longest ${longest.toFixed(0)} (calm ${median(calm.health).toFixed(1)})`,
      goal: `p99 ≤ ${HEALTHY}`,
      met: p99 <= HEALTHY && found.failed === 0
    },
    {
      what: 'strangers who log in with the right password',
      measured: `${found.logins.length - found.refused.length} of ${found.logins.length}, median ${median(found.logins).toFixed(0)} (calm ${median(calm.logins).toFixed(0)})`,
      goal: 'all',
      met: found.refused.length === 0
    }
  ]
}

/** Whether the shop still answers, without having been started again. */
function aliveOf(after: Seen, output: string): Figure[] {
  const starts = output.split('Netlet is running').length - 1
  return [
    {
      what: 'after the attack: the same process answers',
      measured: `${after.health.length - after.failed} of ${after.health.length} calls, ${starts} start`,
      goal: 'all',
      met: after.failed === 0 && starts === 1
    }
  ]
}

const load = () =>
  `${loadavg()[0]?.toFixed(1)} on ${readFileSync('/proc/cpuinfo', 'utf8').match(/^processor/gm)?.length ?? '?'} cores`
