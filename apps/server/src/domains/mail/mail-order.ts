import type { Language } from '@netlet/contract'
import type { Template, TemplateData } from './templates/index.ts'

/** A mail to be sent: its job's data. */
export type MailOrder<T extends Template = Template> = {
  to: string
  template: T
  data: TemplateData<T>
  /** By default English. */
  language?: Language
  /** The unique cause, such as 'reminder:42:first:2026-11-21T10:00:00.000Z': it is mailed once. */
  key: string
  /** When an administrator sent a failed mail again. It is tried as long as a new one from then on. */
  again_at?: string
}
