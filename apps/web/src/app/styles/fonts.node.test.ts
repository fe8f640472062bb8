/// <reference types="node" />
// What stands in for the font takes its room: the figures of fonts.css, from the files themselves.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'

/** Letters and their share in English texts, in thousandths. */
const SHARES: Record<string, number> = Object.fromEntries(
  ' 182 e104 t74 a65 o61 i57 n57 s52 r50 h49 l33 d35 u23 c22 m20 f18 w19 g16 y16 p15 b12 v8 k6'
    .match(/(.)(\d+)/g)!
    .map(part => [part[0], Number(part.slice(1))])
)
/** Widths of Arial's letters in thousandths of its size, as of each font with its widths. */
const ARIAL: Record<string, number> = Object.fromEntries(
  ' 278 a556 b556 c500 d556 e556 f278 g556 h556 i222 k500 l222 m833 n556 o556 p556 r333 s500 t278 u556 v500 w722 y500'
    .match(/(.)(\d+)/g)!
    .map(part => [part[0], Number(part.slice(1))])
)
/** The table names that WOFF2 writes as their place in this list. */
const NAMES = 'cmap head hhea hmtx maxp name OS/2 post cvt_ fpgm glyf loca'.split(' ')

const css = await readFile(new URL('./fonts.css', import.meta.url), 'utf8')
const sans = await readFont('geist')
const mono = await readFont('geist-mono')

it('stands Arial in for the font at its widths and heights', () => {
  const percent = (sans.average / averageOf(letter => ARIAL[letter]! / 1000)) * 100
  const face = faceOf('Geist Fallback')
  expect(Math.abs(face('size-adjust') - percent)).toBeLessThan(1)
  expect(face('ascent-override')).toBeCloseTo((sans.ascent * 1e4) / face('size-adjust'), 1)
  expect(face('descent-override')).toBeCloseTo((sans.descent * 1e4) / face('size-adjust'), 1)
  expect(sans.gap).toBe(0)
})

it('keeps the heights with Roboto', () => {
  const face = faceOf('Geist Fallback Roboto')
  expect(face('ascent-override')).toBeCloseTo((sans.ascent * 1e4) / face('size-adjust'), 1)
  expect(face('descent-override')).toBeCloseTo((sans.descent * 1e4) / face('size-adjust'), 1)
})

it('stands fonts of 0.6 a letter in for the mono', () => {
  const face = faceOf('Geist Mono Fallback')
  expect(mono.average).toBeCloseTo(0.6)
  expect(face('ascent-override')).toBeCloseTo(mono.ascent * 100)
  expect(face('descent-override')).toBeCloseTo(mono.descent * 100)
})

function faceOf(family: string): (property: string) => number {
  const face = css.split('@font-face').find(text => text.includes(`font-family: '${family}';`)) ?? ''
  return property => Number(new RegExp(`${property}: ([\\d.]+)%`).exec(face)?.[1])
}

function averageOf(width: (letter: string) => number): number {
  const letters = Object.entries(SHARES)
  const all = letters.reduce((sum, [, share]) => sum + share, 0)
  return letters.reduce((sum, [letter, share]) => sum + width(letter) * share, 0) / all
}

/** Heights and the average width of letters, in parts of the font's size. */
async function readFont(name: string) {
  const file = `@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`
  const tables = tablesOf(await readFile(createRequire(import.meta.url).resolve(file)))
  const hhea = tables.get('hhea')!
  const size = tables.get('head')!.readUInt16BE(18)
  const longs = hhea.readUInt16BE(34)
  const widths = tables.get('hmtx')!
  const glyphOf = glyphs(tables.get('cmap')!)
  const widthOf = (letter: string) => widths.readUInt16BE(4 * Math.min(glyphOf(letter), longs - 1))
  return {
    ascent: hhea.readInt16BE(4) / size,
    descent: -hhea.readInt16BE(6) / size,
    gap: hhea.readInt16BE(8),
    average: averageOf(widthOf) / size
  }
}

/** The tables of a WOFF2 file that are kept as they are. */
function tablesOf(file: Buffer): Map<string, Buffer> {
  let at = 48
  const number = () => {
    let value = 0
    for (;;) {
      const byte = file[at++]!
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  const places: { name: string; length: number }[] = []
  for (let table = 0; table < file.readUInt16BE(12); table += 1) {
    const flags = file[at++]!
    let name = NAMES[flags & 63] ?? ''
    if ((flags & 63) === 63) {
      name = file.toString('latin1', at, at + 4)
      at += 4
    }
    const plain = name === 'glyf' || name === 'loca' ? flags >> 6 === 3 : flags >> 6 === 0
    const length = number()
    places.push({ name, length: plain ? length : number() })
  }
  const data = brotliDecompressSync(file.subarray(at, at + file.readUInt32BE(20)))
  let start = 0
  return new Map(places.map(({ name, length }) => [name, data.subarray(start, (start += length))]))
}

/** The glyphs of letters, from the table of the Basic Multilingual Plane. */
function glyphs(cmap: Buffer): (letter: string) => number {
  const offsets = Array.from({ length: cmap.readUInt16BE(2) }, (_, n) => cmap.readUInt32BE(8 + 8 * n))
  const start = offsets.find(offset => cmap.readUInt16BE(offset) === 4)!
  const count = cmap.readUInt16BE(start + 6) / 2
  const word = (list: number, n: number) =>
    cmap.readUInt16BE(start + 14 + 2 * list * count + (list > 0 ? 2 : 0) + 2 * n)
  return letter => {
    const code = letter.codePointAt(0)!
    for (let n = 0; n < count; n += 1) {
      if (word(0, n) < code || word(1, n) > code) continue
      const range = word(3, n)
      if (range === 0) return (code + word(2, n)) & 0xffff
      const place = start + 14 + 6 * count + 2 + 2 * n + range + 2 * (code - word(1, n))
      return (cmap.readUInt16BE(place) + word(2, n)) & 0xffff
    }
    throw new Error(`the font has no ${letter}`)
  }
}
