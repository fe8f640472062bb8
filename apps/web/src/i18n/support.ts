import en from './support.en.json'
import { wordList } from './words.ts'

/** The words of a customer's own tickets. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./support.zh-CN.json') })
