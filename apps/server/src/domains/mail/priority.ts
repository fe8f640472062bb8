import type { MailKind } from '@netlet/contract'
import { URGENT } from '../../infra/jobs.ts'
import type { MailTemplate } from './templates/define.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

/** Not urgent: users cause any number of notices about themselves, and do not wait for them. */
const BY_KIND: Record<MailKind, number> = { security: 6, payments: 5, proxies: 5, operator: 5, support: 5, expiry: 0 }

/** After mails about one person's matter, before reminders, for every kind. */
const TO_MANY = 1

/** Codes first: they expire within minutes and people wait for them. Mass mails last. */
export function priorityOf({ template, data }: { template: Template; data: object }): number {
  if ('sealed_code' in data) return URGENT + 10
  const { kind, many }: Pick<MailTemplate<never>, 'kind' | 'many'> = TEMPLATES[template]
  return many ? TO_MANY : BY_KIND[kind]
}
