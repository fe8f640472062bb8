import { IconWorld } from '@tabler/icons-react'
import { useLanguage } from '../i18n/language.ts'
import * as pictures from './flag-pictures.ts'

const flags: Record<string, string> = pictures

/** A country's flag as a data URL; undefined if there is none. Some systems show emoji flags as letters. */
export function flagOf(country: string): string | undefined {
  const svg = flags[country]
  return svg && `data:image/svg+xml,${encodeURIComponent(svg)}`
}

/** A country's flag, or a globe, and its name in the current language. @param country two letters, such as DE */
export function CountryName({ country }: { country: string }) {
  const flag = flagOf(country)
  const name = countryName(country, useLanguage())
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: '0.4rem' }}>
      {flag ? <img src={flag} alt="" width={18} height={12} /> : <IconWorld size={16} aria-hidden />}
      {name}
    </span>
  )
}

/** A country's name in a language; an unknown code is shown unchanged. */
export function countryName(country: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(country) ?? country
  } catch {
    return country
  }
}
