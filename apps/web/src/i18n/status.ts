import en from './status.en.json'
import { wordList } from './words.ts'

/** The words of incidents and the status page. The shop, the dashboard and the console share them. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./status.zh-CN.json') })
export type Key = keyof typeof en
