import en from './receipts.en.json'
import { wordList } from './words.ts'

/** The words of the receipts. Separate because no other page uses them. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./receipts.zh-CN.json') })
