import type { AttentionItem, ReplyOf } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconChevronRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'
import { gridStyle } from '../../kit/grid-style.ts'

/** The list, filtered to exactly the rows counted. */
const PLACES: Record<AttentionItem, string> = {
  undelivered: `${pageAt('Orders')}?problem=1`,
  payments: `${pageAt('payments')}?unresolved=1`,
  store_password: pageAt('health'),
  webhooks: pageAt('health'),
  late_events: `${pageAt('payments')}?late=1`,
  servers: `${pageAt('servers')}?state=trouble`,
  upgrades: pageAt('servers'),
  abuse: `${pageAt('health')}#abuse`,
  proofs: `${pageAt('health')}#proofs`,
  dead_letters: `${pageAt('tasks')}?tab=dead`,
  mails: `${pageAt('mails')}?state=failed`,
  notices: `${pageAt('notices')}?state=failed`,
  prices: `${pageAt('health')}#prices`,
  stock: `${pageAt('productManager')}?low_stock=1`,
  tickets: `${pageAt('tickets')}?state=open`
}

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
    <ul className={classes.items} style={gridStyle('17rem', '0.5rem')}>
      {open.map(({ what, count }) => (
        <li key={what}>
          <Link to={PLACES[what]} className={classes.item}>
            <strong className="num size-title" style={{ fontWeight: 650 }}>
              {count === null ? '?' : numberText(count)}
            </strong>
            <span>
              {t(`home.attention.${what}`)}
              {count === null && <span className="dim"> ({t('home.uncounted')})</span>}
            </span>
            <IconChevronRight size={16} aria-hidden />
          </Link>
          {what === 'servers' && (
            <Link to={`${pageAt('outages')}?state=lasts`} className="size-table" style={{ padding: '0.3rem 0.7rem 0' }}>
              {t('home.outages')}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
