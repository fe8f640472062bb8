import en from './reference.en.json'
import { wordList } from './words.ts'

/** The words of the API reference. Separate because no other page uses them. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./reference.zh-CN.json') })
export type Key = keyof typeof en
