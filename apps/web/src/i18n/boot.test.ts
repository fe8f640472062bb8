import { afterEach, describe, expect, it, vi } from 'vitest'

let runs = 0
/** Runs public/boot.js as index.html does before the first paint. */
async function boot(languages: string[], chosen?: string) {
  vi.stubGlobal('navigator', { languages })
  if (chosen) localStorage.setItem('netlet-language', chosen)
  // A new address each time, so that it runs again.
  await import(/* @vite-ignore */ `../../public/boot.js?${(runs += 1)}`)
  return document.documentElement.lang
}

afterEach(() => {
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
