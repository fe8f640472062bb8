import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT, type Key } from '../../i18n/index.ts'
import { useLevelNames } from '../../i18n/names.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { numberText } from '../../kit/money.ts'
import { Day } from '../../kit/time.tsx'
import { useTitle } from '../../kit/use-title.ts'
import classes from './rewards.module.css'

/** Level points at which each level begins. */
const TIERS = [100, 5000, 10_000, 20_000, 50_000]

type Sample = { at: string; reason: Key; point: number }
const ACTIVITY: Sample[] = [
  { at: '2026-03-14T09:12:00Z', reason: 'publicRewards.sample.payment', point: 256 },
  { at: '2026-03-11T17:40:00Z', reason: 'publicRewards.sample.invited', point: 10 },
  { at: '2026-03-02T08:05:00Z', reason: 'publicRewards.sample.chat', point: 5 },
  { at: '2026-02-27T13:30:00Z', reason: 'publicRewards.sample.exchange', point: -900 }
]

const EXCHANGE = [
  { mount: 5, coins: 500 },
  { mount: 10, coins: 900 },
  { mount: 25, coins: 2000 }
]

/** Explains the rewards with sample data. The user's own are in the dashboard. */
export default function PublicRewardsPage() {
  const t = useT()
  const { nameOf } = useLevelNames()
  const { user } = useSession()
  useTitle(t('publicRewards.title'))
  return (
    <div className="wide page stack" style={{ gap: '2rem' }}>
      <section className={`band ${classes.banner}`}>
        <BlockArt seed="rewards" cols={26} rows={11} letter={{ x: 17, y: 2 }} className={classes.art} />
        <h1>{t('publicRewards.title')}</h1>
        <p>{t('publicRewards.lead')}</p>
        <Button component={Link} to={user ? pageAt('rewards') : pageAt('createAccount')} variant="white">
          {t(user ? 'publicRewards.yours' : 'publicRewards.join')}
        </Button>
      </section>
      <section className="stack" aria-labelledby="tiers">
        <h2 id="tiers">{t('publicRewards.tiers')}</h2>
        <ol className={classes.tiers}>
          {TIERS.map((points, index) => (
            <li key={points} className="card">
              <span className={classes.steps} aria-hidden>
                {TIERS.map((tier, at) => (
                  <i key={tier} data-reached={at <= index || undefined} />
                ))}
              </span>
              <strong>{nameOf(index + 1)}</strong>
              <span className="dim num">{t('publicRewards.from', { points: numberText(points) })}</span>
            </li>
          ))}
        </ol>
      </section>
      <section className="stack" aria-labelledby="activity">
        <h2 id="activity">{t('publicRewards.activity')}</h2>
        <p className="dim">{t('publicRewards.sample')}</p>
        <DataTable
          label={t('publicRewards.activity')}
          columns={[
            { key: 'at', title: t('publicRewards.date'), render: row => <Day at={row.at} /> },
            { key: 'reason', title: t('publicRewards.reason'), lead: true, render: row => t(row.reason) },
            {
              key: 'point',
              title: t('publicRewards.points'),
              align: 'end',
              render: ({ point }) => (
                <span className="num">
                  {point > 0 && '+'}
                  {numberText(point)}
                </span>
              )
            }
          ]}
          rows={ACTIVITY}
          rowKey={row => row.at}
          pending={false}
          empty={{ title: '' }}
        />
      </section>
      <section className="stack" aria-labelledby="exchange">
        <h2 id="exchange">{t('publicRewards.exchange')}</h2>
        <p className="dim">{t('publicRewards.sample')}</p>
        <ul className={classes.tiers}>
          {EXCHANGE.map(({ mount, coins }) => (
            <li key={mount} className="card">
              <strong className="num">${mount}</strong>
              <span className="dim num">{t('publicRewards.coins', { coins: numberText(coins) })}</span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}
