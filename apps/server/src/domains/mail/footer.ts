import { OPTIONAL_MAILS, type MailKind, type OptionalMail } from '@netlet/contract'

/** The kind, where a customer can switch it off. */
export const optionalKind = (kind: MailKind): OptionalMail | undefined => OPTIONAL_MAILS.find(one => one === kind)

/** The page that asks before it switches mails off: mail scanners open every link. `publicUrl` '' is this shop. */
export const unsubscribePage = (publicUrl: string, token: string): string => `${publicUrl}/unsubscribe?token=${token}`

/** Where one click switches mails of the token's kind off. */
export const oneClickAddress = (publicUrl: string, token: string): string =>
  `${publicUrl}/api/mail/unsubscribe/?token=${token}`

/** What mail programs offer beside the mail: a page, and one click without a page (RFC 2369, RFC 8058). */
export const unsubscribeHeaders = (oneClick: string): Record<string, string> => ({
  'List-Unsubscribe': `<${oneClick}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click'
})
