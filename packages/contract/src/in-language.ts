import type { Language } from './languages.ts'

/** Texts of one row in one language; `words`: what its options are called, by what they are called in the first one. */
type Texts = {
  name?: string | undefined
  desc?: string | undefined
  question?: string | undefined
  answer?: string | undefined
  words?: Record<string, string> | undefined
}

/** What a row is called in the languages beside the shop's first; what is not there is said in the first one. */
export type Translations = { [language in Exclude<Language, 'en'>]?: Texts | undefined }
type Translated = { translations?: Translations | undefined }

const textsIn = (language: Language, { translations }: Translated): Texts | undefined =>
  language === 'en' ? undefined : translations?.[language]

/** A row's text in a language. @param own the same in the shop's first language */
export const inLanguage = (
  language: Language,
  own: string,
  row: Translated,
  field: Exclude<keyof Texts, 'words'> = 'name'
): string => textsIn(language, row)?.[field] || own

/** What separates the options in a variant's name. */
const BETWEEN = ' / '

/** An option of a product, its value, or a variant's name, which is made of values. */
export function wordsInLanguage(language: Language, own: string, product: Translated): string {
  const words = textsIn(language, product)?.words
  if (!words) return own
  const one = (text: string) => (Object.hasOwn(words, text) && words[text]) || text
  const whole = one(own)
  return whole === own ? own.split(BETWEEN).map(one).join(BETWEEN) : whole
}
