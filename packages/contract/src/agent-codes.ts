/**
 * Codes of the agent's access log that say that it refused: all others but `ok` tell of something that went wrong. The
 * user `-` (with the address `-`) has the refusals of clients that no user could be told of.
 */
export const AGENT_REFUSALS = [
  'no-auth',
  'ambiguous-client',
  'no-session',
  'bad-session',
  'socks4',
  'tls-too-fast',
  'udp-off',
  'udp-two-ports',
  'too-many-failures',
  'too-many-open',
  'too-many',
  'too-many-address',
  'too-many-client',
  'too-fast',
  'too-fast-address',
  'too-fast-client',
  'quota',
  'denied-domain',
  'denied-address',
  'denied-name',
  'hidden-name',
  'refused-range',
  'refused-port'
] as const

/** The others but `ok`: what went wrong. */
export const AGENT_ERRORS = [
  'killed',
  'replaced',
  'internal-error',
  'malformed',
  'head-too-large',
  'slow-head',
  'tls-failed',
  'client-left',
  'target-broke',
  'target-closed',
  'bad-response',
  'idle',
  'refused',
  'unreachable',
  'not-found',
  'no-answer',
  'dns-timeout',
  'connect-timeout',
  'no-egress'
] as const

export type AgentRefusal = (typeof AGENT_REFUSALS)[number]
export type AgentError = (typeof AGENT_ERRORS)[number]
/** How a request, tunnel or association ended. */
export type AgentCode = 'ok' | AgentRefusal | AgentError

const refusals: ReadonlySet<string> = new Set(AGENT_REFUSALS)
/** Whether the agent itself declined. Of a code that this version does not know it cannot be told, so it is an error. */
export const isAgentRefusal = (code: string): code is AgentRefusal => refusals.has(code)
