import type { MailKind } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { optionalKind, unsubscribePage } from './footer.ts'
import type { RenderedMail } from './layout.ts'
import type { MailOrder } from './mail-order.ts'
import { renderTemplate } from './templates/index.ts'
import { unsubscribeToken } from './unsubscribe.ts'

/** Stands in a kept mail for a code, or for the part of a link that only its recipient may use. */
const MASK = '••••••'

export type RenderedOrder = {
  sent: RenderedMail
  /** The same for the log: what was sealed was not opened for it, and its link to unsubscribe leads nowhere. */
  kept: RenderedMail
  /** The recipient's, for the mail's headers; undefined where such mails cannot be switched off. */
  token: string | undefined
}

/** Fills the template twice, so that no secret is ever in what is kept. */
export async function renderOrder(
  { config, secrets, now }: Pick<AppContext, 'config' | 'secrets' | 'now'>,
  { to, template, data, language = 'en' }: MailOrder,
  kind: MailKind
): Promise<RenderedOrder> {
  const optional = optionalKind(kind)
  const token = optional && unsubscribeToken(secrets, to, optional)
  const shop = { language, shopUrl: config.publicUrl, now: now() }
  const link = (of: string) => token && unsubscribePage(config.publicUrl, of)
  const open = (sealed: string) => secrets.open(Buffer.from(sealed, 'base64'))
  const sent = await renderTemplate(template, data, { ...shop, open }, token && link(token))
  const kept = await renderTemplate(template, data, { ...shop, open: () => MASK }, link(MASK))
  return { sent, kept, token }
}
