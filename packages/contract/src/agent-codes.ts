/** The agent's own refusals in its access log. User and address `-` stand for clients whose user is unknown. */
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

/** All other codes except `ok`: errors. */
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
/** Whether the agent itself refused. Unknown codes count as errors. */
export const isAgentRefusal = (code: string): code is AgentRefusal => refusals.has(code)
