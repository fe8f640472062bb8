import { fillIn } from '@netlet/contract/fill-in'
import { use, useMemo } from 'react'
import { beforeChange, currentLanguage, useLanguage, type Language } from './language.ts'

export type Words = Record<string, string>
export type Values = Record<string, string | number>
type Other = Exclude<Language, 'en'>
type Load = () => Promise<{ default: Words }>

/** `fillIn` of the contract; a text without values is left as it is. */
export const fill = (text: string, values?: Values): string => (values ? fillIn(text, values) : text)

/** One list of words. English comes with the code that uses it; another language is loaded when it is chosen. */
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

  /** The texts of the chosen language, for a component. */
  function useT() {
    const language = useLanguage()
    // Also where they are loaded: React goes on with a component that waited only where it waits for the same again.
    const words = language === 'en' ? english : use(load(language))
    return useMemo(() => (key: keyof W & string, values?: Values) => text(words, key, values), [words])
  }

  /** The same outside components, as far as the language is loaded. */
  const t = (key: keyof W & string, values?: Values) => text(loaded[currentLanguage()] ?? english, key, values)

  /** The text of a key that may be unknown; undefined where the chosen language has none. */
  const find = (key: string, values?: Values): string | undefined => {
    const words = loaded[currentLanguage()]
    return words && Object.hasOwn(words, key) ? fill(words[key] ?? '', values) : undefined
  }

  return { useT, t, find }
}

/** Says what the promise came to where React looks for that, so that `use` need not wait for it again. */
const known = (promise: Promise<Words>, words: Words): void =>
  void Object.assign(promise, { status: 'fulfilled', value: words })

export type Translate<W extends Words> = (key: keyof W & string, values?: Values) => string
