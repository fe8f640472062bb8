import * as pictures from './flag-pictures.ts'

const flags: Record<string, string> = pictures

/** The address of a country's flag as a picture; undefined where there is none. Emoji are letters on some systems. */
export function flagOf(country: string): string | undefined {
  const svg = flags[country]
  return svg && `data:image/svg+xml,${encodeURIComponent(svg)}`
}
