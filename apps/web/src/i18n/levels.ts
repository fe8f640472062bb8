import en from './levels.en.json'
import { wordList } from './words.ts'

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
