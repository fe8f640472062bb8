import { fillIn } from '@netlet/contract/fill-in'
import { use, useMemo } from 'react'
import { beforeChange, currentLanguage, useLanguage, type Language } from './language.ts'

export type Words = Record<string, string>
export type Values = Record<string, string | number>
type Other = Exclude<Language, 'en'>
type Load = () => Promise<{ default: Words }>

/** Like `fillIn` of the contract. Without values the text stays unchanged. */
export const fill = (text: string, values?: Values): string => (values ? fillIn(text, values) : text)

/** One list of words. English is bundled with the code; another language is loaded on demand. */
export function wordList<W extends Words>(english: W, others: Record<Other, Load>) {
  const loaded: Partial<Record<Language, Words>> = { en: english }
  const loading: Partial<Record<Language, Promise<Words>>> = {}

  const load = (language: Language): Promise<Words> => {
    if (language === 'en') return Promise.resolve(english)
    const begun = loading[language]
    if (begun) return begun
    const promise: Promise<Words> = others[language]().then(({ default: words }) => {
      known(promise, words)
      return (loaded[language] = words)
    })
    return (loading[language] = promise)
  }
  beforeChange(load)

  const text = (words: Words, key: keyof W & string, values?: Values) => fill(words[key] ?? english[key] ?? key, values)

  /** Translates in components. */
  function useT() {
    const language = useLanguage()
    // Call `use` even if the words are loaded: a suspended component must resume with the same `use` call.
    const words = language === 'en' ? english : use(load(language))
    return useMemo(() => (key: keyof W & string, values?: Values) => text(words, key, values), [words])
  }

  /** Translates outside components; English until the language is loaded. */
  const t = (key: keyof W & string, values?: Values) => text(loaded[currentLanguage()] ?? english, key, values)

  /** The text of a key that may not exist; undefined if the current language has none. */
  const find = (key: string, values?: Values): string | undefined => {
    const words = loaded[currentLanguage()]
    return words && Object.hasOwn(words, key) ? fill(words[key] ?? '', values) : undefined
  }

  return { useT, t, find }
}

/** Sets the fields that React reads from a promise, so that `use` returns at once. */
const known = (promise: Promise<Words>, words: Words): void =>
  void Object.assign(promise, { status: 'fulfilled', value: words })

export type Translate<W extends Words> = (key: keyof W & string, values?: Values) => string
