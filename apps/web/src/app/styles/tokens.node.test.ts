/// <reference types="node" />
import { glob, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

const css = await readFile(new URL('./tokens.css', import.meta.url), 'utf8')

describe.each(['light', 'dark'])('%s', scheme => {
  const part = css.slice(css.indexOf(`scheme='${scheme}'`))
  const tokens = new Map(
    [...part.slice(0, part.indexOf('}')).matchAll(/--nl-([\w-]+): (#\w{6})/g)].map(([, name, color]) => [name!, color!])
  )
  const contrast = (one: string, other: string) => {
    const [low, high] = [luminance(tokens.get(one)!), luminance(tokens.get(other)!)].toSorted((a, b) => a - b)
    return (high! + 0.05) / (low! + 0.05)
  }

  it.each(['text', 'quiet', 'accent', 'data', 'good', 'warn', 'bad', 'info'])('%s is read on every surface', word => {
    for (const surface of ['page', 'surface', 'sunken']) expect(contrast(word, surface), surface).toBeGreaterThan(4.5)
  })

  it.each(['accent', 'data', 'good', 'warn', 'bad', 'info'])('%s is read on its tint', word => {
    expect(contrast(word, `${word}-soft`)).toBeGreaterThan(4.5)
    expect(contrast('text', `${word}-soft`)).toBeGreaterThan(7)
  })

  it('has surfaces without a colour', () => {
    for (const name of ['page', 'surface', 'sunken', 'line', 'text', 'quiet'])
      expect(tokens.get(name), name).toMatch(/^#(\w\w)\1\1$/)
  })
})

it("has words that are read on the brand's ink", () => {
  const of = (name: string) => luminance(new RegExp(`--nl-${name}: (#\\w{6})`).exec(css)![1]!)
  for (const word of ['on-ink', 'on-ink-quiet', 'on-ink-accent'])
    expect((of(word) + 0.05) / (of('ink') + 0.05), word).toBeGreaterThan(7)
})

it('gives every sheet its sizes of type and its colours', async () => {
  const source = new URL('../../', import.meta.url)
  const own: string[] = []
  for await (const name of glob('**/*.css', { cwd: source })) {
    if (name.endsWith('styles/tokens.css')) continue
    const sheet = await readFile(new URL(name, source), 'utf8')
    const shown = sheet.replaceAll(/@media print \{[\s\S]*/g, '')
    for (const [found] of shown.matchAll(/font-size: (?!var\(--nl-size-|inherit|0\.95em)[^;]*|#[\da-f]{3,8}\b/gi))
      own.push(`${name}: ${found}`)
  }
  expect(own).toEqual([])
})

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
