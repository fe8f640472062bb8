import type { Language, MailKind } from '@netlet/contract'
import type { MailBrand } from '../../settings/index.ts'
import type { Content } from '../layout.ts'

export type TemplateContext = {
  shopUrl: string
  brand: MailBrand
  now: Date
  open(sealed: string): string
}

export type MailTemplate<Data> = {
  kind: MailKind
  /** Sent to thousands of recipients for one event. */
  many?: true
  /** The log of mails does not name the recipient. */
  unnamed?: true
  /** For mails that end without choices of kinds: the paths of a page that asks first, and of one click. */
  unsubscribe?: (data: Data, open: TemplateContext['open']) => { page: string; oneClick: string }
  /** For the console's preview. */
  sample: Data
  content: Record<Language, (data: Data, shop: TemplateContext) => Content>
}

/** Declares a template. Times in `Data` are ISO 8601 UTC; `sealed_code` is a code sealed by APP_SECRET, base64. */
export const template = <Data extends object>(definition: MailTemplate<Data>): MailTemplate<Data> => definition

/** Filling a template is synchronous, so that no other mail comes in between. */
let timeZone = 'UTC'

/** Fills a template whose dates are in a time zone. */
export function inTimeZone<T>(zone: string, fill: () => T): T {
  timeZone = zone
  try {
    return fill()
  } finally {
    timeZone = 'UTC'
  }
}

/** '2026-11-21 10:00 UTC', in the shop's time zone: '2026-11-21 11:00 CET'. */
export function day(time: string): string {
  const at = new Date(time)
  const local = at.toLocaleString('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' }).formatToParts(at)
  return `${local} ${parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone}`
}

/** A term in a mail's table: '1 day', '30 days'. Mails queued by old versions have none. */
export const daysEn = (label: string, count: number | undefined): [string, string][] =>
  count === undefined ? [] : [[label, count === 1 ? '1 day' : `${count} days`]]
/** The same in Chinese: '30 天'. */
export const daysZh = (label: string, count: number | undefined): [string, string][] =>
  count === undefined ? [] : [[label, `${count} 天`]]

/** The sender in a mail's last lines. */
export const sender = ({ brand: { name, footer }, shopUrl }: TemplateContext): string =>
  [`${name}, ${shopUrl}`, footer].filter(Boolean).join('\n')
