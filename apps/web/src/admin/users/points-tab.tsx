import type { PointRecord, UserDetail } from '@netlet/contract'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { usePointReason } from '../../kit/point-reason.ts'
import { Ago, Day } from '../../kit/time.tsx'
import { StatList } from '../kit/index.ts'
import { Paged } from './paged.tsx'
import { none } from '../../kit/none.tsx'

const signed = (point: number): string => (point > 0 ? '+' : '') + numberText(point)

export function PointsTab({ user }: { user: UserDetail }) {
  const t = useT()
  const reasonOf = usePointReason()
  return (
    <div className="stack">
      <StatList
        label={t('users.balances')}
        stats={[
          [t('users.reward_points'), numberText(user.reward_points)],
          [t('users.pending'), numberText(user.pending_points)],
          [t('users.owed'), numberText(user.owed_points)],
          [t('users.level_points'), numberText(user.level_points)],
          [t('users.level'), numberText(user.level)]
        ]}
      />
      <Paged<PointRecord>
        name="points"
        route={rewards.userPoints}
        params={{ id: user.id }}
        columns={[
          { key: 'created_at', title: t('users.time'), render: record => <Ago at={record.created_at} /> },
          { key: 'reason', title: t('users.cause'), lead: true, render: reasonOf },
          { key: 'kind', title: t('users.kind'), render: record => t(`users.kind.${record.kind}`) },
          {
            key: 'point',
            title: t('users.change'),
            align: 'end',
            render: record => <span className="num">{signed(record.point)}</span>
          },
          {
            key: 'pending',
            title: t('users.pendingUntil'),
            render: record => (record.pending_until ? <Day at={record.pending_until} /> : none)
          }
        ]}
      />
    </div>
  )
}
