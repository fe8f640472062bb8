import en from './proxies.en.json'
import { wordList, type Translate } from './words.ts'

export const { useT, t } = wordList(en, { 'zh-CN': () => import('./proxies.zh-CN.json') })
export type Key = keyof typeof en
export type T = Translate<typeof en>
