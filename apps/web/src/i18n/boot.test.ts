import { afterEach, describe, expect, it, vi } from 'vitest'

/** Runs what index.html runs before the first paint. */
async function boot(languages: string[], chosen?: string) {
  vi.resetModules()
  vi.stubGlobal('navigator', { languages })
  if (chosen) localStorage.setItem('netlet-language', chosen)
  // @ts-expect-error -- it is a script without types
  await import('../../public/boot.js')
  return document.documentElement.lang
}

afterEach(() => {
  vi.unstubAllGlobals()
  document.documentElement.lang = 'en'
})

describe('the language before the first paint', () => {
  it.each([
    [['zh-CN', 'en'], 'zh-CN'],
    [['zh-Hans-CN'], 'zh-CN'],
    [['de', 'zh'], 'zh-CN'],
    [['en-US', 'zh-CN'], 'en'],
    [['de', 'fr'], 'en'],
    [[], 'en']
  ])('of a browser that prefers %j is %s', async (languages, language) => {
    expect(await boot(languages)).toBe(language)
  })

  it('is what was chosen here, whatever the browser prefers', async () => {
    expect(await boot(['zh-CN'], 'en')).toBe('en')
    expect(await boot(['en'], 'zh-CN')).toBe('zh-CN')
  })
})
