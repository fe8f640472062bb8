import { useState } from 'react'
import { useT } from '../../i18n/proxies.ts'
import classes from './orders.module.css'
import { none } from '../../kit/none.tsx'

/** Names shown of a long list. */
const SHOWN = 2

/** The first rules of an order, and the rest on request, in a fixed width. */
export function Rules({ names }: { names: string[] }) {
  const t = useT()
  const [all, setAll] = useState(false)
  if (names.length === 0) return none
  const shown = all ? names : names.slice(0, SHOWN)
  const more = names.length - SHOWN
  return (
    <span className={classes.rules} title={names.join(', ')}>
      <span className={classes.ruleNames} data-all={all || undefined}>
        {shown.join(', ')}
      </span>
      {more > 0 && (
        <button type="button" className={classes.more} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('orders.fewer') : t('orders.more', { count: more })}
        </button>
      )}
    </span>
  )
}
