import type { Translations } from '@netlet/contract'
import { sql, type AnyColumn, type SQL } from './db/drizzle.ts'
import { containing } from './db/like.ts'

/** A row's texts in other languages for a reply, if it has any. */
export const translated = ({ translations }: { translations: Translations }): { translations?: Translations } =>
  Object.keys(translations).length > 0 ? { translations } : {}

/** Rows whose name in any language contains a text. For small tables. */
export const nameContains = ({ name, translations }: { name: AnyColumn; translations: AnyColumn }, text: string): SQL =>
  sql`(${name} ilike ${containing(text)} or ${translations} #>> '{zh-CN,name}' ilike ${containing(text)})`
