import {
  agentFailure,
  agentDeleteReply,
  agentPrefixesReply,
  agentState,
  agentUserReply,
  type AgentDeleteReply,
  type AgentPrefixesReply,
  type AgentState,
  type AgentUserBody,
  type AgentUserReply
} from '@netlet/contract/agent'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { z } from 'zod'

/** Where an agent answers, and how it is known to be the right one. */
export type AgentAddress = {
  host: string
  port: number
  token: string
  /** PEM of the certificate that it must show; null: plain HTTP. */
  certificate: string | null
}

export type AgentResult<T> =
  | { ok: true; data: T }
  /** No answer, or one that is no agent's. */
  | { ok: false; kind: 'unreachable'; message: string }
  /** The agent understood and declined: `status` is its HTTP status, `reason` its stable word. */
  | { ok: false; kind: 'refused'; status: number; reason: string; message: string }

export type RawReply = { status: number; body: string }

export type AgentClient = {
  putUser(user: string, body: AgentUserBody): Promise<AgentResult<AgentUserReply>>
  deleteUser(user: string): Promise<AgentResult<AgentDeleteReply>>
  putPrefixes(prefixes: string[]): Promise<AgentResult<AgentPrefixesReply>>
  state(): Promise<AgentResult<AgentState>>
  /** Any call, its answer as it came: for the server management's output panel. */
  raw(method: 'GET' | 'POST', path: string, body?: unknown): Promise<AgentResult<RawReply>>
}

const CONNECT_AND_ANSWER_MS = 15_000
const LARGEST_REPLY = 64 * 1024 * 1024

// One pool for each kind: the console talks to the same few agents again and again.
const plain = new HttpAgent({ keepAlive: true, maxSockets: 16, timeout: 30_000 })
const tls = new Map<string, HttpsAgent>()

/** A client of one node agent. Its calls never throw: what went wrong is in the result. */
export function createAgentClient(address: AgentAddress, timeoutMs = CONNECT_AND_ANSWER_MS): AgentClient {
  const send = (method: string, path: string, body?: unknown) => exchange(address, method, path, body, timeoutMs)
  const call = async <S extends z.ZodType>(
    schema: S,
    method: string,
    path: string,
    body?: unknown
  ): Promise<AgentResult<z.output<S>>> => {
    const reply = await send(method, path, body)
    if (!reply.ok) return reply
    const { status, body: text } = reply.data
    const json = parseJson(text)
    if (status >= 400) {
      const failure = agentFailure.safeParse(json)
      const told = failure.success ? failure.data : { reason: 'unknown', msg: text.slice(0, 200) }
      if (status >= 500) return { ok: false, kind: 'unreachable', message: told.msg }
      return { ok: false, kind: 'refused', status, reason: told.reason, message: told.msg }
    }
    const parsed = schema.safeParse(json)
    if (parsed.success) return { ok: true, data: parsed.data }
    return { ok: false, kind: 'unreachable', message: 'What answers there is not a Netlet agent' }
  }
  const userPath = (user: string) => `/api/users/${encodeURIComponent(user)}`
  return {
    putUser: (user, body) => call(agentUserReply, 'PUT', userPath(user), body),
    deleteUser: user => call(agentDeleteReply, 'DELETE', userPath(user)),
    putPrefixes: prefixes => call(agentPrefixesReply, 'PUT', '/api/prefixes', { prefixes }),
    state: () => call(agentState, 'GET', '/api/state'),
    raw: (method, path, body) => send(method, path, body)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function exchange(
  address: AgentAddress,
  method: string,
  path: string,
  body: unknown,
  timeoutMs: number
): Promise<AgentResult<RawReply>> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  return new Promise(resolve => {
    const fail = (message: string) => resolve({ ok: false, kind: 'unreachable', message })
    const options = {
      host: address.host,
      port: address.port,
      method,
      path,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${address.token}`,
        accept: 'application/json',
        ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {})
      }
    }
    const receive = (response: IncomingMessage) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size > LARGEST_REPLY) return response.destroy(new Error('The reply is too large'))
        parts.push(part)
      })
      response.on('end', () =>
        resolve({ ok: true, data: { status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') } })
      )
      response.on('error', error => fail(error.message))
    }
    const request = address.certificate
      ? httpsRequest({ ...options, agent: pinned(address.certificate) }, receive)
      : httpRequest({ ...options, agent: plain }, receive)
    request.on('error', error =>
      fail(
        error.name === 'TimeoutError' || error.name === 'AbortError'
          ? `No answer within ${timeoutMs / 1000} s`
          : error.message
      )
    )
    request.end(payload)
  })
}

/** The agent's own certificate is the only authority: whatever name it bears, no other is taken for it. */
function pinned(certificate: string): HttpsAgent {
  let agent = tls.get(certificate)
  if (!agent) {
    agent = new HttpsAgent({ keepAlive: true, maxSockets: 16, ca: certificate, checkServerIdentity: () => undefined })
    tls.set(certificate, agent)
  }
  return agent
}
