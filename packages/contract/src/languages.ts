/** The languages of pages and mails. */
export const LANGUAGES = ['en', 'zh-CN'] as const
export type Language = (typeof LANGUAGES)[number]

/** The first supported language in an Accept-Language header; English if there is none. */
export function preferredLanguage(header: string | undefined): Language {
  const wanted = (header ?? '')
    .slice(0, 200)
    .split(',')
    .map(part => {
      const [tag = '', ...params] = part.trim().toLowerCase().split(';')
      const weight = Number(
        params
          .find(param => param.trim().startsWith('q='))
          ?.trim()
          .slice(2) ?? 1
      )
      return { tag, weight: Number.isFinite(weight) ? weight : 0 }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    if (/^zh\b/.test(tag)) return 'zh-CN'
    if (/^en\b/.test(tag)) return 'en'
  }
  return 'en'
}
