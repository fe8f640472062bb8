import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Reader, validate, type CountryResponse } from 'maxmind'

const file = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'
let table: Reader<CountryResponse> | undefined

/** The two-letter country code of an address; null if it has none. Loads the table (8 MB) on the first call. */
export function countryOf(ip: string): string | null {
  // Node shows an IPv4 client of a dual-stack listener as ::ffff:1.2.3.4.
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!validate(address)) return null
  table ??= new Reader(readFileSync(createRequire(import.meta.url).resolve(file)))
  // The rows of this table are flat, unlike the reader's types.
  const row: object | null = table.get(address)
  const code = row && 'country_code' in row ? row.country_code : null
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : null
}
