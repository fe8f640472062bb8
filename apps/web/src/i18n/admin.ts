import en from './admin.en.json'
import { wordList } from './words.ts'

export const { useT, t } = wordList(en, { 'zh-CN': () => import('./admin.zh-CN.json') })
export type Key = keyof typeof en
