import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Reader, validate, type CountryResponse } from 'maxmind'

const file = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'
let table: Reader<CountryResponse> | undefined

/**
 * The two-letter country code of an address, or null where the table has none (private ranges, no address).
 * The table (8 MB) is read at the first call and kept.
 */
export function countryOf(ip: string): string | null {
  // Node writes an IPv4 client on a dual-stack listener as ::ffff:1.2.3.4.
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!validate(address)) return null
  table ??= new Reader(readFileSync(createRequire(import.meta.url).resolve(file)))
  // This table's rows are flat, unlike those of the types that come with the reader.
  const row: object | null = table.get(address)
  const code = row && 'country_code' in row ? row.country_code : null
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : null
}
