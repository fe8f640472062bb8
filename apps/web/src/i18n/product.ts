import en from './product.en.json'
import { wordList } from './words.ts'

/** The words of product and payment pages, which the dashboard also shows. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./product.zh-CN.json') })

export type Key = keyof typeof en
