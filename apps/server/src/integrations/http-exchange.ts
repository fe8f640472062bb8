import { storableJson } from '../infra/text.ts'

export type HttpReply = { ok: true; status: number; headers: Headers; text: string }
export type HttpFailure = {
  ok: false
  reason: 'timeout' | 'network'
  message: string
  /** May the other side have received the request? */
  sent: boolean
}

/**
 * A `Retry-After`: seconds, with fractions from some services, or an instant.
 * @returns milliseconds from now, up to `most`; 0 if it is missing or unreadable
 */
export function retryAfterMs(header: string | null | undefined, now: Date, most: number): number {
  const text = header?.trim() ?? ''
  const wait = /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime()
  return Number.isFinite(wait) ? Math.min(most, Math.max(0, wait)) : 0
}

/** Bytes of an answer. The largest regular ones have less than one million. */
const LONGEST_ANSWER = 16 * 1024 * 1024

/**
 * One exchange with a third party, read to its end. Timeouts and broken connections are results. Their message names
 * `party` and its origin, but never the request, because headers and bodies contain secrets.
 */
export async function exchange(
  party: string,
  url: string,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
  { fetch: request, timeoutMs }: { fetch: typeof fetch; timeoutMs: number }
): Promise<HttpReply | HttpFailure> {
  const signal = AbortSignal.timeout(timeoutMs)
  const at = URL.parse(url)?.origin ?? 'an address that is none'
  try {
    // A redirect would send our credentials to an address that no operator entered.
    const response = await request(url, { ...init, redirect: 'manual', signal })
    return { ok: true, status: response.status, headers: response.headers, text: await readText(response) }
  } catch (error) {
    if (signal.aborted) {
      const message = `${party} at ${at} did not respond within ${timeoutMs / 1000} s.`
      return { ok: false, reason: 'timeout', message, sent: true }
    }
    if (error instanceof AnswerTooLong) {
      const message = `${party} at ${at} sent more than ${LONGEST_ANSWER / 1024 / 1024} MB.`
      return { ok: false, reason: 'network', message, sent: true }
    }
    const cause = causeOf(error)
    const message = `${party} at ${at} cannot be reached (${cause}).`
    return { ok: false, reason: 'network', message, sent: !BEFORE_SENDING.test(cause) }
  }
}

class AnswerTooLong extends Error {}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // An endless answer would fill the memory. Leaving the loop closes the connection.
    if (length > LONGEST_ANSWER) throw new AnswerTooLong()
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** Errors before a connection is established. */
const BEFORE_SENDING = /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/

/**
 * The parsed text, or undefined if it is not JSON. Removes NUL and unpaired surrogates, which can come only from
 * escapes, so that PostgreSQL accepts the texts.
 */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return UNSTORABLE.test(text) ? storableJson(value) : value
  } catch {
    return undefined
  }
}

const UNSTORABLE = /\\u(?:0000|d[89a-f])/i

/** A code such as 'ECONNREFUSED'. The error's message is left out because it may quote the request. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return 'connection failed'
}
