import en from './landing.en.json'
import { wordList } from './words.ts'

/** The words of the lower part of the landing page and of a product's address picture. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./landing.zh-CN.json') })
