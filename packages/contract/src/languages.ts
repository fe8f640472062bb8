/** A row's texts in one language; `words` maps option names in the original language to translations. */
type Texts = {
  name?: string | undefined
  desc?: string | undefined
  question?: string | undefined
  answer?: string | undefined
  words?: Record<string, string> | undefined
}

/** A row's translations. The original applies where one is missing. */
export type Translations = { [language in Exclude<Language, 'en'>]?: Texts | undefined }
type Translated = { translations?: Translations | undefined }

const textsIn = (language: Language, { translations }: Translated): Texts | undefined =>
  language === 'en' ? undefined : translations?.[language]

/** A row's text in a language. @param own the original */
export const inLanguage = (
  language: Language,
  own: string,
  row: Translated,
  field: Exclude<keyof Texts, 'words'> = 'name'
): string => textsIn(language, row)?.[field] || own

/** The separator between options in a variant's name. */
const BETWEEN = ' / '

/** Translates an option, its value, or a variant's name, which consists of values. */
export function wordsInLanguage(language: Language, own: string, product: Translated): string {
  const words = textsIn(language, product)?.words
  if (!words) return own
  const one = (text: string) => (Object.hasOwn(words, text) && words[text]) || text
  const whole = one(own)
  return whole === own ? own.split(BETWEEN).map(one).join(BETWEEN) : whole
}

/** 'Metro ISP · New York'. The only variant of a product without options has the product's name. */
export const planName = ({ product_name, variant_name }: { product_name: string; variant_name: string }): string =>
  variant_name === product_name ? product_name : `${product_name} · ${variant_name}`

/** The languages of pages and mails. */
export const LANGUAGES = ['en', 'zh-CN'] as const
export type Language = (typeof LANGUAGES)[number]

/** The first supported language in an Accept-Language header; English if there is none. */
export function preferredLanguage(header: string | undefined): Language {
  const wanted = (header ?? '')
    .slice(0, 200)
    .split(',')
    .map(part => {
      const [tag = '', ...params] = part.trim().toLowerCase().split(';')
      const weight = Number(
        params
          .find(param => param.trim().startsWith('q='))
          ?.trim()
          .slice(2) ?? 1
      )
      return { tag, weight: Number.isFinite(weight) ? weight : 0 }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    if (/^zh\b/.test(tag)) return 'zh-CN'
    if (/^en\b/.test(tag)) return 'en'
  }
  return 'en'
}
