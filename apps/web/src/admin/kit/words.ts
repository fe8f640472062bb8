import { useCallback } from 'react'
import { useT, type Key } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'

/** The words of one resource: `words('code')` is `gift-cards.code` of the console's catalogue. */
export function useWords(resource: string) {
  const t = useT()
  return useCallback(
    (name: string, values?: Record<string, string | number>) => t(`${resource}.${name}` as Key, values),
    [t, resource]
  )
}

/** A total: exact, or '10,000+' if the count stopped. */
export const countText = (total: number, exact: boolean): string => numberText(total) + (exact ? '' : '+')

/** Figures for sentences: 65361 is '65,361'. */
export const figures = <K extends string>(values: Record<K, number>): Record<K, string> =>
  Object.fromEntries(Object.entries<number>(values).map(([name, value]) => [name, numberText(value)])) as Record<
    K,
    string
  >
