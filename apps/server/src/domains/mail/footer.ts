import { OPTIONAL_MAILS, type MailKind, type OptionalMail } from '@netlet/contract'

/** The kind if customers can switch it off. */
export const optionalKind = (kind: MailKind): OptionalMail | undefined => OPTIONAL_MAILS.find(one => one === kind)

/** The page that asks before it switches mails off: mail scanners open every link. `publicUrl` '' is this shop. */
export const unsubscribePage = (publicUrl: string, token: string): string => `${publicUrl}/unsubscribe?token=${token}`

/** The address of the one-click unsubscription for the token's kind. */
export const oneClickAddress = (publicUrl: string, token: string): string =>
  `${publicUrl}/api/mail/unsubscribe/?token=${token}`

/** Headers for the mail program's own buttons: a page, and one click without a page (RFC 2369, RFC 8058). */
export const unsubscribeHeaders = (oneClick: string): Record<string, string> => ({
  'List-Unsubscribe': `<${oneClick}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click'
})
