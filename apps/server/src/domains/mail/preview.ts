import { LANGUAGES, type MailPreview } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { optionalKind, unsubscribePage } from './footer.ts'
import { renderTemplate, TEMPLATES, type Template } from './templates/index.ts'

/** Every template in each language, filled with its sample. */
export function previewTemplates({ config, now }: Pick<AppContext, 'config' | 'now'>): Promise<MailPreview[]> {
  const shop = { shopUrl: config.publicUrl, now: now(), open: () => '123456' }
  const all = (Object.keys(TEMPLATES) as Template[]).flatMap(name => LANGUAGES.map(language => ({ name, language })))
  return Promise.all(
    all.map(async ({ name, language }) => {
      const { kind, sample } = TEMPLATES[name]
      const endable = optionalKind(kind) !== undefined || 'unsubscribe' in TEMPLATES[name]
      const unsubscribeUrl = endable ? unsubscribePage(config.publicUrl, 'preview') : undefined
      const mail = await renderTemplate(name, sample, { ...shop, language }, unsubscribeUrl)
      return { template: name, kind, language, ...mail }
    })
  )
}
