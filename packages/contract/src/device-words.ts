import type { Language } from './languages.ts'

/** 'Chrome on Linux' in a language. Names of programs stay unchanged. */
export const deviceIn = (language: Language, device: string): string =>
  language === 'zh-CN' ? device.replace(/^(\S.*) on (\S.*)$/u, '$2 上的 $1') : device
