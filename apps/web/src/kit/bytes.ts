import { numberText } from './number.ts'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** 1536 is '1.5 kB'. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${numberText(value, { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${UNITS[unit]}`
}
