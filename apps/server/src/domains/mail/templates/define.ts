import type { Language, MailKind } from '@netlet/contract'
import type { Content } from '../layout.ts'

/** What a template needs of the shop. */
export type TemplateContext = {
  shopUrl: string
  now: Date
  /** Opens what was sealed. */
  open(sealed: string): string
}

export type MailTemplate<Data> = {
  kind: MailKind
  /** One cause has it sent to thousands at once. */
  many?: true
  /** The log of mails does not name who got it. */
  unnamed?: true
  /** Where the recipient ends such mails, where that is no choice of kinds: paths of a page that asks first, and of one click. */
  unsubscribe?: (data: Data, open: TemplateContext['open']) => { page: string; oneClick: string }
  /** What the console's preview fills it with. */
  sample: Data
  content: Record<Language, (data: Data, shop: TemplateContext) => Content>
}

/** Declares a template. Times in `Data` are ISO 8601 UTC; `sealed_code` is a code sealed by APP_SECRET, base64. */
export const template = <Data extends object>(definition: MailTemplate<Data>): MailTemplate<Data> => definition

/** '2026-11-21 10:00 UTC'. */
export const day = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`

/** A term as a fact of a mail: '1 day', '30 days'. A mail that was queued before terms were told has none. */
export const daysEn = (label: string, count: number | undefined): [string, string][] =>
  count === undefined ? [] : [[label, count === 1 ? '1 day' : `${count} days`]]
/** The same in Chinese: '30 天'. */
export const daysZh = (label: string, count: number | undefined): [string, string][] =>
  count === undefined ? [] : [[label, `${count} 天`]]

/** Who sends, for the last line of a mail. */
export const sender = (shop: TemplateContext): string => `Netlet, ${shop.shopUrl}`
