import { agentTokenReply } from '@netlet/contract/agent-token'
import {
  agentClaimReply,
  agentFailure,
  agentOwner,
  CONSOLE_HEADER,
  agentDeleteReply,
  agentPrefixesReply,
  agentReport,
  agentState,
  STATE_USERS,
  agentTrafficChanges,
  agentUserReply,
  type AgentClaim,
  type AgentDeleteReply,
  type AgentOwner,
  type AgentPrefixesReply,
  type AgentReason,
  type AgentState,
  type AgentTrafficChanges,
  type AgentUserBody,
  type AgentUserReply
} from '@netlet/contract/agent'
import {
  agentConnections,
  agentEnded,
  agentLogLines,
  type AgentConnections,
  type AgentEnded,
  type AgentLogLines
} from '@netlet/contract/agent-live'
import { agentProxyTlsState, type AgentProxyTls, type AgentProxyTlsState } from '@netlet/contract/proxy-tls'
import { agentExitReply, type AgentExitReply, type ExitTarget } from '@netlet/contract/exit-check'
import { foreignList, foreignText } from '@netlet/contract/foreign'
import { LRUCache } from 'lru-cache'
import { X509Certificate } from 'node:crypto'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import { z } from 'zod'
import { startOf, storableText } from '../../infra/text.ts'
import { parseJson } from '../http-exchange.ts'

/** The address of an agent, and the secrets that authenticate both sides. */
export type AgentAddress = {
  host: string
  port: number
  token: string
  /** PEM of the certificate that it must present, perhaps followed by its issuers; null for plain HTTP. */
  certificate: string | null
  /**
   * The calling console's id and the mark of its session. An agent with an owner accepts changes from no other console.
   */
  console?: { id: string; mark?: string }
  /** Connects by other means than the network, such as a channel of an SSH connection. */
  dial?: () => Promise<Duplex>
}

export type AgentResult<T> =
  | { ok: true; data: T }
  /** No answer; an answer that is not an agent's; an HTTP 5xx; or the agent refuses this console altogether. */
  | { ok: false; kind: 'failed'; message: string }
  /** The agent declined: `status` is its HTTP status, `reason` its stable code. */
  | { ok: false; kind: 'refused'; status: number; reason: string; message: string }

/** An agent's answer to a claim. `unknown`: an old agent that has no owner. */
export type ClaimReply =
  | { kind: 'granted' | 'foreign' | 'older'; owner: AgentOwner }
  | { kind: 'unknown' }
  | { kind: 'failed'; message: string }

/** `cut`: the answer exceeded the requested size and is incomplete. */
export type RawReply = { status: number; body: string; cut: boolean }

const agentInfo = z.object({
  status: z.literal(200),
  data: z.looseObject({
    epoch: foreignText(64),
    version: z.number(),
    proxy_port: z.number(),
    cidr: foreignList(foreignText(64), 10_000),
    owner: z.unknown().optional(),
    num_of_users: z.unknown().optional(),
    health: z.unknown().optional(),
    load: z.unknown().optional(),
    alarms: z.unknown().optional()
  })
})
/** `misreported`: the agent answers, but its figures are invalid and left out. */
export type AgentInfo = Omit<
  z.infer<typeof agentInfo>['data'],
  'owner' | 'num_of_users' | 'health' | 'load' | 'alarms'
> & {
  /** Old agents do not report it. */
  owner?: AgentOwner | null | undefined
} & z.infer<typeof agentReport> & { misreported?: true }

function readInfo({
  owner: reported,
  num_of_users,
  health,
  load,
  alarms,
  ...rest
}: z.infer<typeof agentInfo>['data']): AgentInfo {
  const owner = agentOwner.nullish().safeParse(reported)
  const known = { ...rest, owner: owner.success ? owner.data : undefined }
  const report = agentReport.safeParse({ num_of_users, health, load, alarms })
  return report.success ? { ...known, ...report.data } : { ...known, misreported: true }
}

export type LogQuery = {
  after: number
  user?: string | undefined
  address?: string | undefined
  status?: string | undefined
}

function queryString(parts: Record<string, string | number | undefined>): string {
  const given = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]]
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

export type AgentClient = {
  /** @param shown `proxies`: the reply lists them */
  putUser(user: string, body: AgentUserBody, shown?: { proxies: boolean }): Promise<AgentResult<AgentUserReply>>
  deleteUser(user: string): Promise<AgentResult<AgentDeleteReply>>
  putPrefixes(prefixes: string[]): Promise<AgentResult<AgentPrefixesReply>>
  /** The TLS that proxy clients should see. Old agents answer 404. */
  putProxyTls(wanted: AgentProxyTls): Promise<AgentResult<AgentProxyTlsState>>
  /** Replaces the token that this client uses, see `agentTokenBody`. Old agents answer 404. */
  putToken(token: string): Promise<AgentResult<{ saved: true }>>
  state(): Promise<AgentResult<AgentState>>
  /** Claims the agent for this console, so that it accepts changes. */
  claim(claim: AgentClaim): Promise<ClaimReply>
  /** A page of the counters that changed since `after`. `fresh`: includes traffic up to now. */
  trafficChanges(query: {
    epoch: string
    after: number
    limit: number
    fresh: boolean
  }): Promise<AgentResult<AgentTrafficChanges>>
  /** Basic figures. Success proves that the agent runs and accepts our token. */
  info(): Promise<AgentResult<AgentInfo>>
  /** Open connections: counts by user, or the list of one user. */
  connections(user?: string): Promise<AgentResult<AgentConnections>>
  endConnections(user: string, connection?: string): Promise<AgentResult<AgentEnded>>
  followLog(query: LogQuery): Promise<AgentResult<AgentLogLines>>
  /** The agent connects to these targets from an address of the range, to prove that answers come back. */
  checkExit(check: { prefix: string; targets: ExitTarget[] }): Promise<AgentResult<AgentExitReply>>
  /** Any call, its answer as it came: for the server management's output panel. */
  raw(method: 'GET' | 'POST', path: string, body?: unknown, maxBytes?: number): Promise<AgentResult<RawReply>>
}

/** For the connection: an unused address does not even refuse one. */
const CONNECT_MS = 3_000
/** For the connection, the work and the answer together. */
const CONNECT_AND_ANSWER_MS = 15_000
/** Bytes of a reply. A machine that sends more is not answering as an agent does. */
const LARGEST_REPLY = 64 * 1024
/** A page of the state, the reply to 10,000 ranges with their routes, 5,000 rows of traffic, 200 lines of the log. */
const LARGEST_LIST = 2 * 1024 * 1024
/** 65,536 proxies. */
const LARGEST_PROXIES = 8 * 1024 * 1024
/** More than an agent has addresses. */
const MOST_USERS = 65_536

// The console calls the same few agents repeatedly, so connections are kept.
const plain = new HttpAgent({ keepAlive: true, maxSockets: 16, timeout: 30_000 })
/** By certificate. The pool of a reissued one stays until its idle connections time out. */
const tls = new LRUCache<string, HttpsAgent>({ max: 1000 })

const notAnAgent = (status: number): string => `What responds there is not a Netlet agent (HTTP ${status})`

/** Reasons that refuse the caller, independent of the request. */
const REFUSES_CALLER: ReadonlySet<string> = new Set(['foreignConsole', 'olderConsole'] satisfies AgentReason[])

function readClaim({ status, body }: RawReply): ClaimReply {
  const json = parseJson(body)
  const granted = agentClaimReply.safeParse(json)
  if (status === 200 && granted.success) return { kind: 'granted', owner: granted.data.owner }
  const failure = agentFailure.safeParse(json)
  if (!failure.success) return { kind: 'failed', message: notAnAgent(status) }
  const { reason, owner, msg } = failure.data
  if (owner && REFUSES_CALLER.has(reason)) return { kind: reason === 'foreignConsole' ? 'foreign' : 'older', owner }
  return status === 404 ? { kind: 'unknown' } : { kind: 'failed', message: msg }
}

/** A client of one node agent. Its calls never throw; errors are in the result. */
export function createAgentClient(address: AgentAddress, timeoutMs = CONNECT_AND_ANSWER_MS): AgentClient {
  const send = (method: string, path: string, body: unknown, maxBytes: number) =>
    exchange(address, { method, path, body, timeoutMs, maxBytes })
  const call = async <S extends z.ZodType>(
    schema: S,
    method: string,
    path: string,
    { body, most = LARGEST_REPLY }: { body?: unknown; most?: number } = {}
  ): Promise<AgentResult<z.output<S>>> => {
    const reply = await send(method, path, body, most)
    if (!reply.ok) return reply
    const { status, body: text, cut } = reply.data
    if (cut) return failed(`The reply to ${method} ${path.split('?')[0]} has more than ${most / 1024} kB`)
    const json = parseJson(text)
    if (status >= 400) {
      const failure = agentFailure.safeParse(json)
      // Another program, such as a proxy in between, says nothing about the request. It may be gone at the next try.
      if (!failure.success) return failed(startOf(text, 200) || notAnAgent(status))
      const { reason, msg } = failure.data
      // A refusal of the caller says nothing about the user or the range in the request.
      if (status >= 500 || status === 401 || REFUSES_CALLER.has(reason)) return failed(msg)
      return { ok: false, kind: 'refused', status, reason, message: msg }
    }
    const parsed = schema.safeParse(json)
    if (parsed.success) return { ok: true, data: parsed.data }
    if (json === undefined || json === null) return failed(notAnAgent(status))
    const field = parsed.error.issues[0]?.path.join('.') ?? ''
    return failed(`The reply to ${method} ${path.split('?')[0]} has an unknown shape (${field || 'not an object'})`)
  }
  const statePage = (after: string) =>
    call(agentState, 'GET', `/api/state${queryString({ after, limit: STATE_USERS })}`, { most: LARGEST_LIST })
  const userPath = (user: string) => `/api/users/${encodeURIComponent(user)}`
  return {
    putUser: (user, body, { proxies } = { proxies: false }) =>
      call(agentUserReply, 'PUT', userPath(user) + (proxies ? '' : '?proxies=0'), {
        body,
        ...(proxies ? { most: LARGEST_PROXIES } : {})
      }),
    deleteUser: user => call(agentDeleteReply, 'DELETE', userPath(user)),
    putPrefixes: prefixes =>
      call(agentPrefixesReply, 'PUT', '/api/prefixes', { body: { prefixes }, most: LARGEST_LIST }),
    putProxyTls: wanted => call(agentProxyTlsState, 'PUT', '/api/proxy-tls', { body: wanted }),
    putToken: token => call(agentTokenReply, 'PUT', '/api/token', { body: { token } }),
    claim: async claim => {
      const reply = await send('PUT', '/api/owner', claim, LARGEST_REPLY)
      return reply.ok ? readClaim(reply.data) : { kind: 'failed', message: reply.message }
    },
    state: async () => {
      const users: AgentState['users'] = []
      const first = await statePage('')
      let page = first
      for (;;) {
        if (!page.ok) return page
        users.push(...page.data.users)
        const { next } = page.data
        if (next === undefined) return first.ok ? { ok: true, data: { ...first.data, users } } : first
        if (users.length >= MOST_USERS || page.data.users.at(-1)?.user !== next)
          return failed('The list of users does not end')
        page = await statePage(next)
        if (page.ok && first.ok && page.data.epoch !== first.data.epoch) return failed('The agent lost its state')
      }
    },
    trafficChanges: ({ epoch, after, limit, fresh }) => {
      const query = new URLSearchParams({
        epoch,
        after: String(after),
        limit: String(limit),
        fresh: fresh ? '1' : '0'
      })
      return call(agentTrafficChanges, 'GET', `/api/traffic/changes?${query.toString()}`, { most: LARGEST_LIST })
    },
    info: async () => {
      const reply = await call(agentInfo, 'GET', '/api/view-server-info', { most: LARGEST_LIST })
      return reply.ok ? { ok: true, data: readInfo(reply.data.data) } : reply
    },
    checkExit: check => call(agentExitReply, 'POST', '/api/check-exit', { body: check }),
    connections: user =>
      call(agentConnections, 'GET', `/api/connections${queryString({ user })}`, { most: LARGEST_LIST }),
    endConnections: (user, id) => call(agentEnded, 'DELETE', `/api/connections${queryString({ user, id })}`),
    followLog: query => call(agentLogLines, 'GET', `/api/log/follow${queryString(query)}`, { most: LARGEST_LIST }),
    raw: (method, path, body, maxBytes = LARGEST_LIST) => send(method, path, body, maxBytes)
  }
}

type Exchange = { method: string; path: string; body: unknown; timeoutMs: number; maxBytes: number }

async function exchange(address: AgentAddress, call: Exchange): Promise<AgentResult<RawReply>> {
  try {
    const socket = await dialled(address)
    const signal = AbortSignal.timeout(call.timeoutMs)
    const first = await attempt(address, call, signal, socket)
    // The other side may have closed a pooled connection while it was idle. This says nothing about the agent.
    const stale = first.stale && call.method !== 'POST'
    const { result } = stale ? await attempt(address, call, signal) : first
    return result
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

async function dialled({ dial, certificate }: AgentAddress): Promise<Duplex | undefined> {
  if (!dial) return undefined
  // Read before the connection exists: one that is left over has no handler for its errors.
  const trust = certificate ? trustOnly(certificate) : null
  const socket = await dial()
  return trust ? connectTls({ socket, ...trust }) : socket
}

const failed = (message: string): AgentResult<never> => ({
  ok: false,
  kind: 'failed',
  message: storableText(message)
})

type Attempt = { result: AgentResult<RawReply>; stale: boolean }

function attempt(address: AgentAddress, call: Exchange, signal: AbortSignal, socket?: Duplex): Promise<Attempt> {
  const payload = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
  const { promise, resolve } = Promise.withResolvers<Attempt>()
  const options = {
    host: address.host,
    port: address.port,
    method: call.method,
    path: call.path,
    signal,
    headers: {
      authorization: `Bearer ${address.token}`,
      accept: 'application/json',
      ...consoleHeader(address),
      ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {})
    }
  }
  const fail = (error: Error, stale = false) => {
    const late = error.name === 'TimeoutError' || error.name === 'AbortError'
    resolve({ result: failed(late ? `No answer within ${call.timeoutMs / 1000} s` : error.message), stale })
  }
  const receive = (response: IncomingMessage) => {
    const parts: Buffer[] = []
    let size = 0
    const settle = (cut: boolean) => {
      const body = Buffer.concat(parts).subarray(0, call.maxBytes).toString('utf8')
      resolve({ result: { ok: true, data: { status: response.statusCode ?? 0, body, cut } }, stale: false })
    }
    response.on('data', (part: Buffer) => {
      parts.push(part)
      size += part.length
      if (size <= call.maxBytes) return
      settle(true)
      response.destroy()
    })
    response.on('end', () => settle(false))
    response.on('error', fail)
  }
  const request = open(address, options, receive, socket)
  request.on('error', (error: NodeJS.ErrnoException) =>
    fail(error, request.reusedSocket && error.code === 'ECONNRESET')
  )
  request.on('socket', opened => {
    if (!opened.connecting) return
    const late = setTimeout(() => request.destroy(new Error(`No connection within ${CONNECT_MS / 1000} s`)), CONNECT_MS)
    const settled = () => clearTimeout(late)
    opened.once('connect', settled).once('close', settled)
  })
  request.end(payload)
  return promise
}

const consoleHeader = ({ console: caller }: AgentAddress): Record<string, string> =>
  caller ? { [CONSOLE_HEADER]: caller.mark === undefined ? caller.id : `${caller.id} ${caller.mark}` } : {}

function open(
  { certificate }: AgentAddress,
  options: RequestOptions,
  receive: (response: IncomingMessage) => void,
  socket: Duplex | undefined
) {
  if (socket) return httpRequest({ ...options, createConnection: () => socket }, receive)
  return certificate
    ? httpsRequest({ ...options, agent: pinned(certificate) }, receive)
    : httpRequest({ ...options, agent: plain }, receive)
}

/**
 * Only the pinned certificate itself is trusted, the first in the text, so its name and issuer do not matter. Another
 * certificate of the same authority is refused.
 * @throws Error if it cannot be read
 */
function trustOnly(certificate: string) {
  const own = new X509Certificate(certificate)
  return {
    ca: own.toString(),
    allowPartialTrustChain: true,
    checkServerIdentity: (_host: string, { raw }: PeerCertificate) =>
      own.raw.equals(raw) ? undefined : new Error('The agent shows another certificate than the first one saved for it')
  }
}

function pinned(certificate: string): HttpsAgent {
  let agent = tls.get(certificate)
  if (!agent) {
    agent = new HttpsAgent({ keepAlive: true, maxSockets: 16, timeout: 30_000, ...trustOnly(certificate) })
    tls.set(certificate, agent)
  }
  return agent
}
