import en from './landing.en.json'
import { wordList } from './words.ts'

/** The words of what stands further down on the landing page, and of the picture of a product's addresses. */
export const { useT } = wordList(en, { 'zh-CN': () => import('./landing.zh-CN.json') })
