import en from './account.en.json'
import { wordList } from './words.ts'

export const { useT, t } = wordList(en, { 'zh-CN': () => import('./account.zh-CN.json') })
export type Key = keyof typeof en
