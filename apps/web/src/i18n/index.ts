import en from './en.json'
import { wordList } from './words.ts'

/** The words of the shell and the shop. Other areas have their own lists. */
export const { useT, t } = wordList(en, { 'zh-CN': () => import('./zh-CN.json') })

export type Key = keyof typeof en
