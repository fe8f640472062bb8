import type { Key, useT } from '../../i18n/account.ts'

/** Codes of the agents' access log that have words. */
const CODES = [
  'no-auth',
  'too-many-failures',
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
  'refused-port',
  'malformed',
  'head-too-large',
  'slow-head',
  'client-left',
  'target-broke',
  'target-closed',
  'bad-response',
  'idle',
  'refused',
  'unreachable',
  'not-found',
  'dns-timeout',
  'connect-timeout',
  'no-egress',
  'other'
] as const satisfies (Key extends infer K ? (K extends `traffic.code.${infer Code}` ? Code : never) : never)[]

/** What a code means; one of a newer agent as it is. */
export function codeText(t: ReturnType<typeof useT>, code: string): string {
  const known = CODES.find(one => one === code)
  return known ? t(`traffic.code.${known}`) : code
}
