import en from './status.en.json'
import { wordList } from './words.ts'

/** The words of incidents and of the status page, which the shop, the dashboard and the console share. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./status.zh-CN.json') })
export type Key = keyof typeof en
