import { useLanguage } from '../../i18n/language.ts'
import { useClock } from '../clock.ts'
import { unitText } from '../number.ts'
import { timeOfDay } from '../time.tsx'

/**
 * Until when an unpaid order's addresses are held, and at least how long that is from now: '2:32 PM' and '12 minutes'.
 * @param deadline milliseconds
 */
export function useHeldUntil(deadline: number) {
  const language = useLanguage()
  const minutes = Math.max(0, Math.floor((deadline - useClock()) / 60_000))
  return {
    time: timeOfDay(deadline, language),
    left: unitText(minutes, language, { unit: 'minute', unitDisplay: 'long' })
  }
}
