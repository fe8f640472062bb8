import en from './levels.en.json'
import { wordList } from './words.ts'

const list = wordList(en, { 'zh-CN': () => import('./levels.zh-CN.json') })

/** What the fifth level is called besides its name. */
const TOP_NAME = 'SSSSSVIP'

type Level = keyof typeof en
const isLevel = (level: string): level is Level => Object.hasOwn(en, level)
const said = (t: (level: Level) => string, level: number) => (isLevel(`${level}`) ? t(`${level}` as Level) : '')

/** A level's name in the chosen language, outside of components; '' where there is no such level. */
export const levelName = (level: number): string => said(list.t, level)

/** The same for components, which are drawn anew when the language changes. The shop, the dashboard and the console share the names. */
export function useLevelNames() {
  const t = list.useT()
  const nameOf = (level: number) => said(t, level)
  return { nameOf, fullNameOf: (level: number) => (level === 5 ? `${nameOf(level)} (${TOP_NAME})` : nameOf(level)) }
}
