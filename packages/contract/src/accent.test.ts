import { describe, expect, it } from 'vitest'
import { accentColors, accentSheet, contrast } from './accent.ts'

const HUES = [
  '#ff0000',
  '#ffff00',
  '#00ff00',
  '#00ffff',
  '#0000ff',
  '#ff00ff',
  '#000000',
  '#ffffff',
  '#0b6860',
  '#808080'
]

describe.each(HUES)('the accent %s', accent => {
  const { light, lightSoft, dark, darkSoft, ink, onInk } = accentColors(accent)

  it('is readable as text on the surfaces of both schemes, on its tint, and under white words', () => {
    for (const surface of ['#ffffff', '#fafafa', '#f4f4f4', lightSoft])
      expect(contrast(light, surface), surface).toBeGreaterThan(4.5)
    for (const surface of ['#0e0e0e', '#161616', '#1f1f1f', darkSoft])
      expect(contrast(dark, surface), surface).toBeGreaterThan(4.5)
    expect(contrast('#171717', lightSoft)).toBeGreaterThan(7)
    expect(contrast('#ededed', darkSoft)).toBeGreaterThan(7)
  })

  it('is clear on the brand’s dark surface, as other words there', () => {
    for (const words of [onInk, '#f3f7f6', '#a9bfbc']) expect(contrast(words, ink), words).toBeGreaterThan(7)
  })

  it('makes a sheet of colours only', () => {
    expect(accentSheet(accent).replaceAll(/#[\da-f]{6}/g, '')).not.toContain('#')
  })
})

it('keeps a colour that is readable', () => {
  expect(accentColors('#0b6860').light).toBe('#0b6860')
  expect(accentColors('#6dccc2').dark).toBe('#6dccc2')
})
