import { unitText } from './number.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

/** 0.84 is '0.8 sec', 75 is '1.3 min', 5400 is '1.5 hr', 180000 is '2.1 days', in the current language. */
export function durationText(seconds: number, language: string): string {
  // 59.96 seconds would round to '60 sec'; say 1 minute.
  const [unit, length] = UNITS.find(([, length]) => seconds >= length * 0.999) ?? (['second', 1] as const)
  return unitText(seconds / length, language, { unit, maximumFractionDigits: 1 })
}
