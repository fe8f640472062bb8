import type { AttentionItem, ReplyOf } from '@netlet/contract'
import { IconChevronRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

const index = '/dashboard/index'

/** Where exactly the rows are that were counted. */
const PLACES: Record<AttentionItem, string> = {
  undelivered: `${index}/orders?problem=1`,
  payments: `${index}/payments?unresolved=1`,
  late_events: `${index}/health`,
  servers: `${index}/servers?state=trouble`,
  upgrades: `${index}/servers`,
  abuse: `${index}/health#abuse`,
  proofs: `${index}/health#proofs`,
  dead_letters: `${index}/tasks?tab=dead`,
  mails: `${index}/mails?state=failed`,
  notices: `${index}/notices?state=failed`,
  prices: `${index}/health#prices`,
  stock: `${index}/productManager?low_stock=1`,
  tickets: `${index}/tickets?state=open`
}

/** What needs attention, each with the way to it; where nothing does it says so, and no more. */
export function AttentionPanel() {
  const t = useT()
  return (
    <Panel title={t('home.attention')} route={home.attention} wide>
      {list => <AttentionList list={list} />}
    </Panel>
  )
}

function AttentionList({ list }: { list: ReplyOf<typeof home.attention> }) {
  const t = useT()
  const open = list.filter(({ count }) => count !== 0)
  if (open.length === 0) return <p className={classes.quiet}>{t('home.nothing')}</p>
  return (
    <ul className={classes.items}>
      {open.map(({ what, count }) => (
        <li key={what}>
          <Link to={PLACES[what]} className={classes.item}>
            <strong className="num">{count === null ? '?' : numberText(count)}</strong>
            <span>
              {t(`home.attention.${what}`)}
              {count === null && <span className="dim"> ({t('home.uncounted')})</span>}
            </span>
            <IconChevronRight size={16} aria-hidden />
          </Link>
          {what === 'servers' && (
            <Link to={`${index}/outages?state=lasts`} className={classes.beside}>
              {t('home.outages')}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
