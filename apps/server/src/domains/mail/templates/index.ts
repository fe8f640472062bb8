import type { Language } from '@netlet/contract'
import { type RenderedMail, renderLayout } from '../layout.ts'
import { accessTemplates, codeTemplates } from './account.ts'
import { inTimeZone, type MailTemplate, type TemplateContext } from './define.ts'
import { operatorTemplates } from './operators.ts'
import { orderLifeTemplates, orderTemplates } from './orders.ts'
import { changeTemplates } from './changes.ts'
import { outageTemplates } from './outages.ts'
import { paymentTemplates } from './payments.ts'
import { secondFactorTemplates, securityTemplates } from './security.ts'
import { statusTemplates } from './status.ts'
import { webhookTemplates } from './webhooks.ts'
import { trafficTemplates } from './traffic.ts'
import { supportTemplates } from './support.ts'

export const TEMPLATES = {
  ...accessTemplates,
  ...codeTemplates,
  ...orderTemplates,
  ...orderLifeTemplates,
  ...changeTemplates,
  ...outageTemplates,
  ...paymentTemplates,
  ...operatorTemplates,
  ...secondFactorTemplates,
  ...securityTemplates,
  ...statusTemplates,
  ...supportTemplates,
  ...trafficTemplates,
  ...webhookTemplates
}

export type Template = keyof typeof TEMPLATES
export type TemplateData<T extends Template> = (typeof TEMPLATES)[T]['sample']

/** Templates that can name several orders: see `Gathered`. */
export type GatheredTemplate = keyof typeof changeTemplates | 'addresses-changed' | 'outage-credited'

/** Fills a template and renders the mail. @param unsubscribeUrl where the recipient can switch such mails off */
export function renderTemplate<T extends Template>(
  name: T,
  data: TemplateData<T>,
  { language, ...shop }: TemplateContext & { language: Language },
  unsubscribeUrl?: string
): RenderedMail {
  const { content } = TEMPLATES[name] as unknown as MailTemplate<TemplateData<T>>
  const filled = inTimeZone(shop.brand.timeZone, () => content[language](data, shop))
  return renderLayout({ ...filled, unsubscribeUrl }, { language, ...shop })
}
