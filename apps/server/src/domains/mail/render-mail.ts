import { LANGUAGES, type Language, type MailKind, type MailPreview } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { readMailBrand } from '../settings/index.ts'
import { type RenderedMail, oneClickAddress, optionalKind, unsubscribePage } from './layout.ts'
import type { MailTemplate, TemplateContext } from './templates/define.ts'
import { TEMPLATES, type Template, type TemplateData, renderTemplate } from './templates/index.ts'
import { unsubscribeToken } from './choices.ts'

/** A request to send a mail: the data of its job. */
export type MailRequest<T extends Template = Template> = {
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

/** Every template in each language, filled with its sample. */
export async function previewTemplates({
  config,
  db,
  now
}: Pick<AppContext, 'config' | 'db' | 'now'>): Promise<MailPreview[]> {
  const shop = { shopUrl: config.publicUrl, brand: await readMailBrand(db), now: now(), open: () => '123456' }
  const all = (Object.keys(TEMPLATES) as Template[]).flatMap(name => LANGUAGES.map(language => ({ name, language })))
  return all.map(({ name, language }) => {
    const { kind, sample } = TEMPLATES[name]
    const endable = optionalKind(kind) !== undefined || 'unsubscribe' in TEMPLATES[name]
    const unsubscribeUrl = endable ? unsubscribePage(config.publicUrl, 'preview') : undefined
    const mail = renderTemplate(name, sample, { ...shop, language }, unsubscribeUrl)
    return { template: name, kind, language, ...mail }
  })
}

/** Replaces codes and personal parts of links in stored mails. */
const MASK = '••••••'

export type RenderedRequest = {
  sent: RenderedMail
  /** The same for the log: secrets stay sealed, and its unsubscribe link leads nowhere. */
  kept: RenderedMail
  /** The one-click address for the mail's headers; undefined if such mails cannot be switched off. */
  oneClick: string | undefined
}

/** Renders the requested mail twice, so that the stored version never contains a secret. */
export async function renderRequest(
  { config, db, secrets, now }: Pick<AppContext, 'config' | 'db' | 'secrets' | 'now'>,
  { to, template, data, language = 'en' }: MailRequest,
  kind: MailKind
): Promise<RenderedRequest> {
  const shop = { language, shopUrl: config.publicUrl, brand: await readMailBrand(db), now: now() }
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
  const sent = renderTemplate(template, data, { ...shop, open }, links.page)
  const kept = renderTemplate(template, data, { ...shop, open: mask }, linksFor(token && MASK, mask).page)
  return { sent, kept, oneClick: links.oneClick }
}

/** Where such mails can be switched off; empty if they cannot. */
type Links = { page?: string; oneClick?: string }
