import type { Language } from '@netlet/contract'
import type { Template, TemplateData } from './templates/index.ts'

/** A mail that is to be sent: what its job carries. */
export type MailOrder<T extends Template = Template> = {
  to: string
  template: T
  data: TemplateData<T>
  /** By default English. */
  language?: Language
  /** Names the cause, such as 'reminder:42:first:2026-11-21T10:00:00.000Z': it is mailed about once. */
  key: string
  /** When an administrator had it sent again after it had failed: from then on it is tried as long as a new one. */
  again_at?: string
}
