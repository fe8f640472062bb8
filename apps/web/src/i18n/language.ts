import { useSyncExternalStore } from 'react'

export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof LANGUAGES
const KEY = 'netlet-language'

// Before the first paint boot.js has written there what this person chose, or else prefers.
let language: Language = document.documentElement.lang === 'zh-CN' ? 'zh-CN' : 'en'
const listeners = new Set<() => void>()
const loaders = new Set<(language: Language) => Promise<unknown>>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Has a word list loaded before the language changes, so that no page is ever half in one and half in the other. */
export const beforeChange = (load: (language: Language) => Promise<unknown>) => void loaders.add(load)

/** Loads the word lists of a language, as far as there are any yet. */
export const loadLanguage = (next: Language) => Promise.all([...loaders].map(load => load(next)))

export const currentLanguage = () => language
export const useLanguage = () => useSyncExternalStore(subscribe, currentLanguage)

export async function setLanguage(next: Language): Promise<void> {
  await loadLanguage(next)
  language = next
  document.documentElement.lang = next
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // A browser that keeps nothing still shows the language until it is closed.
  }
  for (const listener of listeners) listener()
}
