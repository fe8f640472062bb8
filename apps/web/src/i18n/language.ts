import { useSyncExternalStore } from 'react'

export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof LANGUAGES
const KEY = 'netlet-language'

// public/boot.js has set it before the first paint, from the user's choice or the browser's preference.
let language: Language = document.documentElement.lang === 'zh-CN' ? 'zh-CN' : 'en'
const listeners = new Set<() => void>()
const loaders = new Set<(language: Language) => Promise<unknown>>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Registers a word list to load before the language changes, so that no page mixes two languages. */
export const beforeChange = (load: (language: Language) => Promise<unknown>) => void loaders.add(load)

/** Loads a language for all registered word lists. */
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
    // Without storage, the language lasts until the browser closes.
  }
  for (const listener of listeners) listener()
}
