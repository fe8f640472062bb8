/** The shop's accent colour in the shades that screens and mails need. Without schemas, because the browser uses it. */

/** What text must have on its background (WCAG 2.2, 1.4.3), and a little more for rounding. */
const READABLE = 4.6
/** What text on the brand's dark surface has. */
const CLEAR = 7

/** The darkest surface of the light scheme and the lightest of the dark one: `--nl-sunken` of apps/web/src/app/styles/tokens.css. */
const LIGHT = '#f4f4f4'
const DARK = '#1f1f1f'

const channels = (color: string): [number, number, number] =>
  [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)) as [number, number, number]

/** `share` of the other colour, from 0 to 1. */
function mix(color: string, other: string, share: number): string {
  const [a, b] = [channels(color), channels(other)]
  const parts = a.map((part, at) => Math.round(part + ((b[at] ?? 0) - part) * share))
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map(part =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4
  ) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** WCAG's contrast of two colours '#rrggbb', from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

/** The colour, mixed with as little of another as makes it fit. */
function nearest(color: string, towards: string, fits: (color: string) => boolean): string {
  for (let share = 0; share < 1; share += 0.02) {
    const shade = mix(color, towards, share)
    if (fits(shade)) return shade
  }
  return towards
}

const softLight = (color: string) => mix(color, '#ffffff', 0.9)
const softDark = (color: string) => mix(color, '#161616', 0.82)

export type AccentColors = {
  /** Text and buttons of the light scheme, links in mails; white is readable on it. And its tint. */
  light: string
  lightSoft: string
  /** Text of the dark scheme, and its tint. */
  dark: string
  darkSoft: string
  /** The brand's dark surface, and the accent on it. */
  ink: string
  onInk: string
}

/** Darkens and lightens a colour '#rrggbb' until it is readable in both schemes. */
export function accentColors(accent: string): AccentColors {
  const light = nearest(
    accent,
    '#000000',
    color => contrast(color, LIGHT) >= READABLE && contrast(color, softLight(color)) >= READABLE
  )
  const dark = nearest(
    accent,
    '#ffffff',
    color => contrast(color, DARK) >= READABLE && contrast(color, softDark(color)) >= READABLE
  )
  const ink = mix('#0b1011', light, 0.1)
  return {
    light,
    lightSoft: softLight(light),
    dark,
    darkSoft: softDark(dark),
    ink,
    onInk: nearest(dark, '#ffffff', color => contrast(color, ink) >= CLEAR)
  }
}

/**
 * A style sheet that replaces the default accent of the web app and of the component library, whose own sheets come
 * later: hence `html`.
 */
export function accentSheet(accent: string): string {
  const { light, lightSoft, dark, darkSoft, ink, onInk } = accentColors(accent)
  const shades = [
    mix(light, '#ffffff', 0.92),
    mix(light, '#ffffff', 0.8),
    mix(light, '#ffffff', 0.62),
    dark,
    dark,
    mix(light, '#ffffff', 0.15),
    light,
    light,
    mix(light, '#000000', 0.2),
    mix(light, '#000000', 0.4)
  ].map((shade, at) => `--mantine-color-lagoon-${at}:${shade}`)
  const scheme = (name: string, color: string, soft: string, text: string) =>
    `html:root[data-mantine-color-scheme='${name}']{--nl-accent:${color};--nl-accent-soft:${soft};--mantine-color-lagoon-light:${soft};--mantine-color-lagoon-light-hover:${soft};--mantine-color-lagoon-outline-hover:${soft};--mantine-color-lagoon-light-color:${text}}`
  return [
    `html:root{--nl-ink:${ink};--nl-on-ink-accent:${onInk};${shades.join(';')}}`,
    scheme('light', light, lightSoft, light),
    scheme('dark', dark, darkSoft, dark)
  ].join('')
}
