import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'
import type { Key, useT } from '../../i18n/account.ts'

/** Codes in the agents' access log that have words. `other`: codes of newer agents. */
const CODES = [...AGENT_REFUSALS, ...AGENT_ERRORS, 'other'] as const satisfies (Key extends infer K
  ? K extends `traffic.code.${infer Code}`
    ? Code
    : never
  : never)[]

/** The meaning of a code; an unknown code unchanged. */
export function codeText(t: ReturnType<typeof useT>, code: string): string {
  const known = CODES.find(one => one === code)
  return known ? t(`traffic.code.${known}`) : code
}
