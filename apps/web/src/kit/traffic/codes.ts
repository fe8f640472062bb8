import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'
import type { Key, useT } from '../../i18n/account.ts'

/** Codes of the agents' access log, each of which has words; `other`: those of agents that are newer than the console. */
const CODES = [...AGENT_REFUSALS, ...AGENT_ERRORS, 'other'] as const satisfies (Key extends infer K
  ? K extends `traffic.code.${infer Code}`
    ? Code
    : never
  : never)[]

/** What a code means; one of a newer agent as it is. */
export function codeText(t: ReturnType<typeof useT>, code: string): string {
  const known = CODES.find(one => one === code)
  return known ? t(`traffic.code.${known}`) : code
}
