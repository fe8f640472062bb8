import * as pictures from './flag-pictures.ts'

const flags: Record<string, string> = pictures

/** A country's flag as a data URL; undefined if there is none. Some systems show emoji flags as letters. */
export function flagOf(country: string): string | undefined {
  const svg = flags[country]
  return svg && `data:image/svg+xml,${encodeURIComponent(svg)}`
}
