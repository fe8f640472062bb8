import { SUCCESS, type Route } from '@netlet/contract'
import * as contract from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SESSION_COOKIE } from '../domains/accounts/index.ts'
import { addSession } from '../testing/session.ts'
import { isDeeperThan } from '../infra/http/json-depth.ts'
import { MAX_REPORTED_FIELDS, validate } from '../infra/http/mount.ts'
import { describeCalls, type ApiCall } from './calls.ts'
import { injectEndless } from './endless.fixture.ts'
import { exampleOf } from './schemas.ts'
import { brokenBody, HOSTILE_HEADERS, HOSTILE_IDS, hostileQuery, mutate, seeded, toJson } from './hostile.fixture.ts'
import { CLOSED_PORT, startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { contentOfTables, differences } from './tables.fixture.ts'
import { isLong } from '../../../../scripts/testing/tier.ts'

/** Another seed tries other requests: FUZZ_SEED=7. */
const SEED = Number(process.env['FUZZ_SEED'] ?? (isLong ? Date.now() : 20_260_301))
const CALLS = isLong ? 100_000 : 500
const AT_ONCE = 8

const random = seeded(SEED)
const { calls, components } = describeCalls()
const routeOf = (call: ApiCall): Route => {
  const [domain, name = ''] = call.id.split('.')
  return (contract.routes[domain as contract.Domain] as Record<string, Route>)[name] as Route
}

let shop: StockedShop
let customer: Buyer
let admin: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  // The ids that requests name are small: these users are expendable, the two that call are not among them.
  for (let n = 0; n < 10; n++) await shop.customer()
  customer = await shop.customer({ username: 'caller1' })
  admin = await shop.admin({ username: 'caller2' })
  for (let n = 0; n < 3; n++) await shop.buy(customer)
})
afterAll(() => shop?.close())

type Role = 'visitor' | 'customer' | 'admin'
type Attempt = {
  call: ApiCall
  role: Role
  method: ApiCall['method']
  url: string
  headers: Record<string, string>
  payload: string | Buffer | undefined
  /** What the contract says to it, where that can be told: the part that it refuses, and the fields. */
  refused: { status: number; fields: string[] } | null
}

const takesInput = (call: ApiCall) => Boolean(call.params ?? call.query ?? call.body)

function makeAttempt(nth: number): Attempt {
  const withInput = random.chance(0.95)
  // Each call at least once, whatever chance says.
  const call = calls[nth] ?? random.pick(calls.filter(one => takesInput(one) === withInput))
  const role =
    call.access === 'admin' && random.chance(0.8) ? 'admin' : random.pick(['visitor', 'customer', 'admin'] as const)
  const isNamed = !random.chance(0.25)
  const { query, isPlain } = makeQuery(call)
  const path = call.path.replace(/:(id|key)/, (_, name) =>
    isNamed ? honestPart(call, name) : random.pick(HOSTILE_IDS)
  )
  const url = `${path}${query ? `?${query}` : ''}`
  const { payload, type, body } = makeBody(call)
  const hostile = random.chance(0.05) ? random.pick(HOSTILE_HEADERS) : {}
  const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...hostile }
  const isPlainBody = !call.body || body !== undefined
  const isKnown = isPlain && isPlainBody && (isNamed || !call.params) && Object.keys(hostile).length === 0
  return {
    call,
    role,
    method: call.method,
    url,
    headers,
    payload,
    refused: isKnown ? expectedRefusal(call, role, body) : null
  }
}

/** What is deleted is gone: other things are deleted than are edited. */
const honestPart = (call: ApiCall, name: string) =>
  name === 'key'
    ? 'columns'
    : random.pick(call.method === 'DELETE' ? ['7', '8', '999999'] : ['1', '1', '2', '3', '999999'])

function makeQuery(call: ApiCall): { query: string; isPlain: boolean } {
  const honest = call.query ? (exampleOf(call.query, components) as Record<string, unknown>) : {}
  if (random.chance(0.4)) return { query: hostileQuery(honest, random), isPlain: false }
  const given = call.query ? random.chance(0.5) : false
  return { query: given ? new URLSearchParams(honest as Record<string, string>).toString() : '', isPlain: true }
}

function makeBody(call: ApiCall): { payload: string | Buffer | undefined; type: string | undefined; body: unknown } {
  if (!call.body) return { payload: undefined, type: undefined, body: undefined }
  const honest = confined(exampleOf(call.body, components))
  if (random.chance(0.12)) return { ...brokenBody(honest, random), body: undefined }
  const text = toJson(confined(random.chance(0.12) ? honest : mutate(honest, random)))
  // The parser refuses deeper values, so the fields are never checked.
  const body = isDeeperThan(text, 100) ? undefined : (JSON.parse(text) as unknown)
  return { payload: text, type: 'application/json', body }
}

/** Directs every address in a request to a closed port of this machine, so that the shop connects nowhere else. */
function confined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const found = value as Record<string, unknown>
  if (typeof found['shopify_shop_url'] === 'string') found['shopify_shop_url'] = `http://127.0.0.1:${CLOSED_PORT}`
  if (found['ip'] === '192.0.2.10')
    Object.assign(found, { ip: '127.0.0.1', agent_port: CLOSED_PORT, port: CLOSED_PORT })
  if ('ip' in found && !('agent_port' in found)) found['agent_port'] = CLOSED_PORT
  return found
}

/** Asks the contract itself. Null: it has nothing against it, the rest is the handler's business. */
function expectedRefusal(call: ApiCall, role: Role, body: unknown): Attempt['refused'] {
  if (role === 'visitor' && call.access !== 'public') return { status: 401, fields: [] }
  if (role === 'customer' && call.access === 'admin') return { status: 403, fields: [] }
  const schema = routeOf(call).body
  if (!schema) return null
  const parsed = validate(schema, body ?? undefined)
  if (!parsed) return { status: 400, fields: [] }
  if (parsed.success) return null
  return { status: 400, fields: parsed.error.issues.map(issue => issue.path.join('.') || 'body') }
}

/** They end the session that they came with when they go through, and the others are still to be tried with it. */
const ENDS_SESSION = new Set(['accounts.logout', 'accounts.login', 'accounts.signUp', 'accounts.discordRedirect'])

type Outcome = { status: number; text: string; location: string | undefined }

async function send(attempt: Attempt): Promise<Outcome> {
  const { call, role, method, url, payload } = attempt
  const headers = { ...attempt.headers }
  if (role !== 'visitor' && !headers['cookie'])
    headers['cookie'] = `${SESSION_COOKIE}=${ENDS_SESSION.has(call.id) ? await newSession(role) : cookieOf(role)}`
  const request = { method, url, headers, ...(payload === undefined ? {} : { payload }) }
  const reply = await (call.raw === 'text/event-stream' ? injectEndless(shop.app, request) : shop.app.inject(request))
  return { status: reply.statusCode, text: reply.body, location: reply.headers.location }
}

const userOf = (role: Role) => (role === 'admin' ? admin : customer)
const cookieOf = (role: Role) => userOf(role).cookies.get(SESSION_COOKIE) ?? ''
const newSession = (role: Role) => addSession(shop.ctx, userOf(role).user.id)

/** What is wrong with a reply; empty where nothing is. */
function faultOf({ call, refused }: Attempt, { status, text, location }: Outcome): string {
  if (call.raw && status === 302) return location?.startsWith('/') ? '' : `leads to ${location}`
  if (call.raw && status === 200) return ''
  let reply: { code?: unknown; msg?: unknown; data?: unknown }
  try {
    reply = JSON.parse(text) as typeof reply
  } catch {
    return 'no JSON'
  }
  if (status === 200) {
    if (refused) return `the contract refuses it: ${refused.fields.join(', ')}`
    if (reply.code !== SUCCESS) return 'a success whose code is another'
    const shaped = routeOf(call).reply.safeParse(reply.data)
    return shaped.success ? '' : `data is not what the contract says: ${shaped.error.message}`
  }
  if (![400, 401, 403, 404, 409, 413, 415, 429, 503].includes(status)) return 'a status that nobody expects'
  if (reply.code !== status) return 'the code is not the status'
  if (typeof reply.msg !== 'string' || reply.msg === '') return 'no msg'
  if (reply.msg === contract.refusals.unavailable[1]) return 'the database was not there'
  if (refused && refused.status !== status && status !== 413) return `the contract says ${refused.status}`
  const errors = (reply.data as { errors?: Record<string, string> } | null)?.errors ?? {}
  // Of a list without end the first wrong ones are told.
  const isTold = (field: string) => errors[field] || Object.keys(errors).length === MAX_REPORTED_FIELDS
  const missing = status === 400 && refused ? refused.fields.filter(field => !isTold(field)) : []
  return missing.length > 0 ? `data.errors says nothing of ${missing.join(', ')}` : ''
}

const shown = ({ role, method, url, headers, payload }: Attempt, { status, text }: Outcome, fault: string) =>
  `${fault}\n  ${role} ${method} ${url.slice(0, 300)} ${JSON.stringify(headers).slice(0, 200)}\n  ${String(payload).slice(0, 600)}\n  → ${status} ${text.slice(0, 400)}`

test(`${CALLS} requests that no honest caller sends (seed ${SEED})`, { timeout: 600_000 }, async () => {
  const faults: string[] = []
  const statuses: Record<number, number> = {}
  const tried = new Set<string>()
  let before = await contentOfTables(shop.ctx)

  const run = async (attempt: Attempt) => {
    const outcome = await send(attempt)
    statuses[outcome.status] = (statuses[outcome.status] ?? 0) + 1
    tried.add(attempt.call.id)
    const fault = faultOf(attempt, outcome)
    if (fault) faults.push(shown(attempt, outcome, fault))
    return outcome
  }
  const unchanged = async (what: string) => {
    const after = await contentOfTables(shop.ctx)
    const changed = differences(before, after)
    if (changed.length > 0) faults.push(`Refused calls left something behind: ${changed.join(', ')}\n  ${what}`)
    before = after
  }

  const looked = { alone: 0 }
  for (let made = 0; made < CALLS && faults.length < 25;) {
    const batch = Array.from({ length: Math.min(400, CALLS - made) }, (_, nth) => makeAttempt(made + nth))
    made += batch.length
    // Those that cannot succeed run together, and the tables must be afterwards what they were before.
    const hopeless = batch.filter(attempt => attempt.refused)
    await together(hopeless, run)
    await unchanged(`after ${made} calls, among those that the contract refuses`)
    // Of the others, each that was looked at alone and was refused must have left nothing either.
    const others = batch.filter(attempt => !attempt.refused)
    const alone = others.filter((_, at) => at % 8 === 0)
    for (const attempt of alone) {
      const outcome = await run(attempt)
      if (outcome.status >= 400 && outcome.status < 500) await unchanged(shown(attempt, outcome, 'refused'))
      else before = await contentOfTables(shop.ctx)
      looked.alone++
    }
    await together(
      others.filter((_, at) => at % 8 !== 0),
      run
    )
    before = await contentOfTables(shop.ctx)
  }
  console.log(`fuzz: seed ${SEED}, ${JSON.stringify(statuses)}, ${looked.alone} looked at alone`)
  expect(faults.join('\n\n')).toBe('')
  expect(tried.size).toBe(calls.length)
  // Enough of them get past the contract, and past the handlers, to be worth anything.
  expect(statuses[200]).toBeGreaterThan(CALLS / 40)
})

async function together(attempts: Attempt[], run: (attempt: Attempt) => Promise<unknown>): Promise<void> {
  const waiting = attempts.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const attempt of waiting) await run(attempt)
    })
  )
}

test.each([
  ['PUT', '/api/servers/cidrs/1/', { exclude_acl: [2_147_483_648] }, 400],
  ['PUT', '/api/servers/acl-groups/1/', { name: 'a', description: 'a', acls: ['999999999999999'] }, 400],
  ['GET', '/api/servers/cidrs/?exclude_acl=2147483648', undefined, 400],
  ['GET', '/api/products/products/?acl=2147483648', undefined, 400],
  ['DELETE', '/api/servers/acls/999999999999999/', undefined, 404]
] as const)('a number that no rule can have: %s %s', async (method, url, body, status) => {
  const reply = await send({ ...bare, method, url, ...jsonOf(body) })
  expect(reply).toMatchObject({ status })
})

test('a proxy in front that names a client which is no address does not keep anything from being written down', async () => {
  const reply = await send({
    ...bare,
    method: 'POST',
    url: '/api/servers/server-groups/',
    ...jsonOf({ name: 'behind a proxy', description: 'x', servers: [shop.serverId] }, { 'x-forwarded-for': 'nonsense' })
  })
  expect(reply.text).toContain('"code":2000')
})

const bare = {
  call: calls.find(call => call.id === 'inventory.cidrs') as ApiCall,
  role: 'admin' as const,
  refused: null
}
const jsonOf = (body: unknown, headers: Record<string, string> = {}) => ({
  headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
  payload: body === undefined ? undefined : JSON.stringify(body)
})
