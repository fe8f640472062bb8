import type { Order } from '@netlet/contract'
import { inLanguage, type Translations, wordsInLanguage } from '@netlet/contract/languages'
import { useMemo } from 'react'
import { type Language, useLanguage } from './language.ts'
import en from './levels.en.json'
import { wordList } from './words.ts'

type Row = { translations?: Translations | undefined }

/** Names of the shop's rows in a language; the original name if there is no translation. */
export const namesIn = (language: Language) => ({
  collection: (row: Row & { collection_name: string }) => inLanguage(language, row.collection_name, row),
  tag: (row: Row & { tag_name: string }) => inLanguage(language, row.tag_name, row),
  product: (row: Row & { product_name: string }) => inLanguage(language, row.product_name, row),
  rule: (row: Row & { acl_name: string }) => inLanguage(language, row.acl_name, row),
  location: (row: Row & { name: string }) => inLanguage(language, row.name, row),
  /** A row's longer text. */
  text: (row: Row, own: string, field: 'desc' | 'question' | 'answer') => inLanguage(language, own, row, field),
  /** An option, its value, a variant's name or a location, translated by the row it belongs to. */
  word: (of: Row, own: string) => wordsInLanguage(language, own, of),
  /** The names shown in an order. */
  order: ({ product_name, variant_name, acl_names, translations }: OrderNames) =>
    (language === 'en' ? undefined : translations?.[language]) ?? { product_name, variant_name, acl_names }
})

export type OrderNames = Pick<Order, 'product_name' | 'variant_name' | 'acl_names' | 'translations'>
export type Names = ReturnType<typeof namesIn>

export function useNames(): Names {
  const language = useLanguage()
  return useMemo(() => namesIn(language), [language])
}

const list = wordList(en, { 'zh-CN': () => import('./levels.zh-CN.json') })

/** The additional name of the fifth level. */
const TOP_NAME = 'SSSSSVIP'

type Level = keyof typeof en
const isLevel = (level: string): level is Level => Object.hasOwn(en, level)
const said = (t: (level: Level) => string, level: number) => (isLevel(`${level}`) ? t(`${level}` as Level) : '')

/** A level's name in the current language, for use outside components; '' if there is no such level. */
export const levelName = (level: number): string => said(list.t, level)

/** The same for components, which render again when the language changes. */
export function useLevelNames() {
  const t = list.useT()
  const nameOf = (level: number) => said(t, level)
  return { nameOf, fullNameOf: (level: number) => (level === 5 ? `${nameOf(level)} (${TOP_NAME})` : nameOf(level)) }
}
