import {
  AU,
  BR,
  CA,
  CN,
  DE,
  FR,
  GB,
  HK,
  ID,
  IN,
  IT,
  JP,
  KR,
  MY,
  RU,
  SG,
  TH,
  TW,
  US,
  VN
} from 'country-flag-icons/string/3x2'

const flags: Record<string, string> = {
  CN,
  US,
  JP,
  KR,
  GB,
  DE,
  FR,
  IT,
  RU,
  BR,
  IN,
  AU,
  CA,
  HK,
  MY,
  SG,
  TW,
  TH,
  VN,
  ID
}

/** The address of a country's flag as a picture; undefined where there is none. Emoji are letters on some systems. */
export function flagOf(country: string): string | undefined {
  const svg = flags[country]
  return svg && `data:image/svg+xml,${encodeURIComponent(svg)}`
}
