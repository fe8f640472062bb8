import { gzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'

export type FirstLoad = {
  /** JavaScript and CSS with their gzip sizes, largest first. */
  code: { path: string; text: string; bytes: number }[]
  codeBytes: number
  fonts: string[]
  fontBytes: number
}

/** Starts counting what a page loads. Returns a function for the result. */
export function countLoads(page: Page): () => Promise<FirstLoad> {
  const texts = new Map<string, Promise<string>>()
  const fonts = new Map<string, Promise<Buffer>>()
  page.on('response', response => {
    const path = new URL(response.url()).pathname
    if (/\.(js|css)$/.test(path)) texts.set(path, response.text())
    if (path.endsWith('.woff2')) fonts.set(path, response.body())
  })
  return async () => {
    const files = await Promise.all([...texts].map(async ([path, text]) => ({ path, text: await text })))
    const code = files
      .map(file => ({ ...file, bytes: gzipSync(file.text, { level: 9 }).length }))
      .toSorted((a, b) => b.bytes - a.bytes)
    return {
      code,
      codeBytes: code.reduce((sum, { bytes }) => sum + bytes, 0),
      fonts: [...fonts.keys()],
      fontBytes: (await Promise.all(fonts.values())).reduce((sum, body) => sum + body.length, 0)
    }
  }
}
