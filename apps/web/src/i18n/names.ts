import type { Order } from '@netlet/contract'
import { inLanguage, wordsInLanguage, type Translations } from '@netlet/contract/in-language'
import { useMemo } from 'react'
import { useLanguage, type Language } from './language.ts'

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
