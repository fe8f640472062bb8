import { storableJson } from '../infra/db/storable-json.ts'

export type HttpReply = { ok: true; status: number; headers: Headers; text: string }
export type HttpFailure = {
  ok: false
  reason: 'timeout' | 'network'
  message: string
  /** Whether the other side may have got the request. */
  sent: boolean
}

/** Bytes of an answer; the largest that are asked for have less than one million. */
const LONGEST_ANSWER = 16 * 1024 * 1024

/**
 * One exchange with a third party, read to its end. Silence and broken connections are results whose message names
 * `party` and its origin, never the request: headers and bodies hold secrets.
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
    // A redirect would carry our credentials to an address that nobody entered.
    const response = await request(url, { ...init, redirect: 'manual', signal })
    return { ok: true, status: response.status, headers: response.headers, text: await readText(response) }
  } catch (error) {
    if (signal.aborted) {
      const message = `${party} at ${at} did not answer within ${timeoutMs / 1000} s.`
      return { ok: false, reason: 'timeout', message, sent: true }
    }
    if (error instanceof AnswerTooLong) {
      const message = `${party} at ${at} answered more than ${LONGEST_ANSWER / 1024 / 1024} MB.`
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
    // Whoever goes on without an end would fill the memory. Leaving the loop closes the connection.
    if (length > LONGEST_ANSWER) throw new AnswerTooLong()
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** What goes wrong before a connection stands. */
const BEFORE_SENDING = /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/

/**
 * The parsed text, or undefined where it is no JSON. Its texts are storable: only escapes can bring in what is not, and
 * most replies have none.
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

/** 'ECONNREFUSED' and the like. The error's own text is left out: it may quote the request. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return 'connection failed'
}
