import en from './product.en.json'
import { wordList } from './words.ts'

/** The words of the products' pages and of paying, which the dashboard shows too. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./product.zh-CN.json') })

export type Key = keyof typeof en
