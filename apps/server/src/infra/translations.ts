import type { Translations } from '@netlet/contract'
import { sql, type AnyColumn, type SQL } from 'drizzle-orm'
import { containing } from './db/like.ts'

/** For a reply: a row's texts in other languages, where it has some. */
export const translated = ({ translations }: { translations: Translations }): { translations?: Translations } =>
  Object.keys(translations).length > 0 ? { translations } : {}

/** Rows whose name, in whatever language, contains a text. For tables that are small. */
export const calledLike = ({ name, translations }: { name: AnyColumn; translations: AnyColumn }, text: string): SQL =>
  sql`(${name} ilike ${containing(text)} or ${translations} #>> '{zh-CN,name}' ilike ${containing(text)})`
