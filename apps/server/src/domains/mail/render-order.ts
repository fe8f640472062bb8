import type { MailKind } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { oneClickAddress, optionalKind, unsubscribePage } from './footer.ts'
import type { RenderedMail } from './layout.ts'
import type { MailOrder } from './mail-order.ts'
import type { MailTemplate, TemplateContext } from './templates/define.ts'
import { renderTemplate, TEMPLATES } from './templates/index.ts'
import { unsubscribeToken } from './unsubscribe.ts'

/** Replaces codes and personal parts of links in stored mails. */
const MASK = '••••••'

export type RenderedOrder = {
  sent: RenderedMail
  /** The same for the log: secrets stay sealed, and its unsubscribe link leads nowhere. */
  kept: RenderedMail
  /** The one-click address for the mail's headers; undefined if such mails cannot be switched off. */
  oneClick: string | undefined
}

/** Renders the template twice, so that the stored version never contains a secret. */
export async function renderOrder(
  { config, secrets, now }: Pick<AppContext, 'config' | 'secrets' | 'now'>,
  { to, template, data, language = 'en' }: MailOrder,
  kind: MailKind
): Promise<RenderedOrder> {
  const shop = { language, shopUrl: config.publicUrl, now: now() }
  const open = (sealed: string) => secrets.open(Buffer.from(sealed, 'base64'))
  const mask = () => MASK
  const optional = optionalKind(kind)
  const token = optional && unsubscribeToken(secrets, to, optional)
  const linksFor = (tokenOf: string | undefined, opened: TemplateContext['open']): Links => {
    const own = (TEMPLATES[template] as unknown as MailTemplate<typeof data>).unsubscribe?.(data, opened)
    const at = config.publicUrl
    if (own) return { page: at + own.page, oneClick: at + own.oneClick }
    return tokenOf ? { page: unsubscribePage(at, tokenOf), oneClick: oneClickAddress(at, tokenOf) } : {}
  }
  const links = linksFor(token, open)
  const sent = await renderTemplate(template, data, { ...shop, open }, links.page)
  const kept = await renderTemplate(template, data, { ...shop, open: mask }, linksFor(token && MASK, mask).page)
  return { sent, kept, oneClick: links.oneClick }
}

/** Where such mails can be switched off; empty if they cannot. */
type Links = { page?: string; oneClick?: string }
