import en from './login.en.json'
import { wordList } from './words.ts'

/** Words of the second step of a log-in, and of passkeys. Only the login page loads them. */
export const { useT, t } = wordList(en, { 'zh-CN': () => import('./login.zh-CN.json') })
