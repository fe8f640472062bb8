import type { MailKind } from '@netlet/contract'
import { URGENT } from '../../infra/jobs.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

/**
 * None is urgent: people cause notices about themselves as often as they like, and nobody waits for one.
 */
const BY_KIND: Record<MailKind, number> = { security: 6, payments: 5, proxies: 5, operator: 5, support: 5, expiry: 0 }

/** Codes first: they expire within minutes and someone waits for them. Reminders last: they come by the thousand. */
export function priorityOf({ template, data }: { template: Template; data: object }): number {
  return 'sealed_code' in data ? URGENT + 10 : BY_KIND[TEMPLATES[template].kind]
}
