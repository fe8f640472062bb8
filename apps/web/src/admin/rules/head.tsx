import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import classes from './rules.module.css'

/** The title, the number of rules, and their undecided overlaps. */
export function RulesHead() {
  const t = useT()
  const { data } = useQuery(read(inventory.rules, { query: { limit: 1 } }))
  const { data: conflicts } = useQuery(read(inventory.ruleConflicts))
  return (
    <header className={classes.head}>
      <h2>{t('rules.title')}</h2>
      <p>
        {t('rules.total')}: <strong className="num">{data ? numberText(data.total) : '…'}</strong>
      </p>
      {conflicts && conflicts.undecided_total > 0 && (
        <p className={classes.warn}>{t('rules.undecided', { count: conflicts.undecided_total })}</p>
      )}
      {conflicts && conflicts.duplicate_total > 0 && (
        <p className={classes.warn}>{t('rules.duplicates', { count: conflicts.duplicate_total })}</p>
      )}
    </header>
  )
}
