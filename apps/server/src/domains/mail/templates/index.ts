import type { Language } from '@netlet/contract'
import { renderMail, type RenderedMail } from '../layout.ts'
import { codeTemplates } from './codes.ts'
import type { MailTemplate, TemplateContext } from './define.ts'
import { operatorTemplates } from './operators.ts'
import { orderTemplates } from './orders.ts'
import { paymentTemplates } from './payments.ts'

export const TEMPLATES = { ...codeTemplates, ...orderTemplates, ...paymentTemplates, ...operatorTemplates }

export type Template = keyof typeof TEMPLATES
/** What a template is filled with. */
export type TemplateData<T extends Template> = (typeof TEMPLATES)[T]['sample']

/** Fills a template and renders the mail. */
export function renderTemplate<T extends Template>(
  name: T,
  data: TemplateData<T>,
  { language, ...shop }: TemplateContext & { language: Language }
): Promise<RenderedMail> {
  const { content } = TEMPLATES[name] as unknown as MailTemplate<TemplateData<T>>
  return renderMail(content[language](data, shop), language)
}
